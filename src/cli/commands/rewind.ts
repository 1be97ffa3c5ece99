import { command } from '../command.js'
import { confirmOn } from '../confirm.js'
import { printableLine } from '../printable.js'
import { projectPaths } from '../project-path.js'
import { restoreExitCode, restoreText } from '../restore-text.js'
import { shortIdOf } from '../short-id.js'

export const run = command({
  async call(request) {
    const { options, hooks } = request
    const project = await request.project()
    return project.rewind(
      {
        to: request.argument(0),
        paths: await projectPaths(request, options.texts('path')),
        dryRun: options.has('dry-run'),
      },
      { ...hooks, confirm: confirmOn(request, 'Go back?') },
    )
  },
  async render(result, request) {
    const what = request.options.has('path') ? 'what you named' : 'the folder'
    const ref = request.argument(0)
    // The rewind adds checkpoints, so a number would mean another one by now.
    const isNumber = /^[0-9]+$/.test(ref)
    const shown = isNumber
      ? await shortIdOf(await request.project(), result.target)
      : printableLine(ref)
    return restoreText(result, request, {
      done: `Rewound to ${shown}`,
      nothing: `${what} is as it was at ${shown}`,
      next: 'Undo with: savestate undo',
    })
  },
  exitCode: (result) => restoreExitCode(result),
})
