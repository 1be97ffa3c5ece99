// `savestate undo` and `savestate redo`.
import { undoOrRedo } from '../rewind/undo-redo.js'
import type { Command } from '../runtime/command.js'

const undo = undoOrRedo({
  kind: 'undo',
  verbs: ['Undo', 'Undid'],
  nothing: 'the folder is as it was before the rewind',
  opposite: { kind: 'redo', verb: 'Redo' },
})

const redo = undoOrRedo({
  kind: 'redo',
  verbs: ['Repeat', 'Repeated'],
  nothing: 'the folder is as it was after the rewind',
  opposite: { kind: 'undo', verb: 'Undo' },
})

export const run: Command = (request) => (request.command === 'redo' ? redo : undo)(request)
