import { undoOrRedo } from '../rewind/undo-redo.js'

export const run = undoOrRedo({
  kind: 'undo',
  verbs: ['Undo', 'Undid'],
  nothing: 'the folder is as it was before the rewind',
  opposite: { kind: 'redo', verb: 'Redo' },
})
