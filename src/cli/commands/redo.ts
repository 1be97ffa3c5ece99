import { undoOrRedo } from '../rewind/undo-redo.js'

export const run = undoOrRedo({
  kind: 'redo',
  verbs: ['Repeat', 'Repeated'],
  nothing: 'the folder is as it was after the rewind',
  opposite: { kind: 'undo', verb: 'Undo' },
})
