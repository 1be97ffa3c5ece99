import { command } from '../command.js'
import { confirmOn } from '../confirm.js'
import { restoreExitCode, restoreText } from '../restore-text.js'
import { programFor } from '../shell-quoted.js'

export const run = command({
  async call(request) {
    const { options, hooks } = request
    return (await request.project()).redo(
      { dryRun: options.has('dry-run') },
      { ...hooks, confirm: confirmOn(request, 'Do the rewind again?') },
    )
  },
  render: (result, request) =>
    restoreText(result, request, {
      done: 'Did the rewind again',
      nothing: 'the folder is as it was after the rewind',
      next: `Undo with: ${programFor(request.options)} undo`,
    }),
  exitCode: restoreExitCode,
})
