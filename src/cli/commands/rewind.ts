import type { Project } from '../../index.js'
import { command } from '../command.js'
import { confirmOn } from '../confirm.js'
import { printableLine } from '../printable.js'
import { projectPaths } from '../project-path.js'
import { restoreExitCode, restoreText } from '../restore-text.js'
import { shortIds } from '../short-id.js'

export const run = command({
  async call(request) {
    const { options, hooks } = request
    const project = await request.project()
    const target = await targetOf(project, request.argument(0))
    const result = await project.rewind(
      {
        to: target.ref,
        paths: await projectPaths(request, options.texts('path')),
        dryRun: options.has('dry-run'),
      },
      { ...hooks, confirm: confirmOn(request, 'Go back?') },
    )
    return { result, shown: target.shown }
  },
  json: ({ result }) => result,
  render({ result, shown }, request) {
    const what = request.options.has('path') ? 'what you named' : 'the folder'
    return restoreText(result, request, {
      done: `Rewound to ${shown}`,
      nothing: `${what} is as it was at ${shown}`,
      next: 'Undo with: savestate undo',
    })
  },
  exitCode: ({ result }) => restoreExitCode(result),
})

/** The rewind itself adds checkpoints, so a number would mean another one afterwards. */
async function targetOf(project: Project, ref: string) {
  const number = /^[1-9][0-9]{0,8}$/.test(ref) ? Number(ref) : undefined
  if (number === undefined) return { ref, shown: printableLine(ref) }
  const { checkpoints } = await project.list({ limit: number })
  const id = checkpoints[number - 1]?.id
  if (id === undefined) return { ref, shown: ref }
  return { ref: id, shown: shortIds(checkpoints.map((each) => each.id)).get(id) ?? id }
}
