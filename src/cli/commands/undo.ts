// `savestate undo` and `savestate redo`.
import { undoOrRedo } from '../rewind/undo-redo.js'
import { SavestateError } from '../../index.js'
import type { Command, Request } from '../runtime/command.js'

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

export const run: Command = async (request) => {
  if (request.command === 'redo') return redo(request)
  if (request.positionals.length === 0) {
    refuseChoice(request)
    return undo(request)
  }
  const { undoSteps } = await import('../rewind/undo-steps.js')
  return undoSteps(request)
}

/** The undo of a rewind restores whole files, so there is nothing to decide. */
function refuseChoice({ options }: Request): void {
  const name = ['ours', 'theirs', 'conflict'].find((each) => options.has(each))
  if (name === undefined) return
  throw new SavestateError('BAD_INPUT', `--${name} needs a checkpoint`, {
    hint: 'To take back what one checkpoint changed: savestate undo <ref>',
  })
}
