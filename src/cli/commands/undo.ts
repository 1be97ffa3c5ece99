import { command } from '../command.js'
import { confirmOn } from '../confirm.js'
import { restoreExitCode, restoreText } from '../restore-text.js'
import { programFor } from '../shell-quoted.js'

export const run = command({
  async call(request) {
    const { options, hooks } = request
    return (await request.project()).undo(
      { dryRun: options.has('dry-run') },
      { ...hooks, confirm: confirmOn(request, 'Undo the last rewind?') },
    )
  },
  render: (result, request) =>
    restoreText(result, request, {
      done: 'Undid the last rewind',
      nothing: 'the folder is as it was before the rewind',
      next: `Redo with: ${programFor(request.options)} redo`,
    }),
  exitCode: restoreExitCode,
})
