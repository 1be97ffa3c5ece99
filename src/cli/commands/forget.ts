import type { ForgetResult } from '../../index.js'
import { command, Declined } from '../runtime/command.js'
import { confirmPlan } from '../runtime/confirm.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { displayPath } from '../terminal/escape.js'
import { projectPaths } from '../runtime/path-arguments.js'

export const run = command<ForgetResult>({
  async call(request) {
    const project = await request.project()
    const [path = ''] = (await projectPaths(request, [request.argument(0)])) ?? []
    const plan = () => project.forget(path, { dryRun: true, ...request.hooks })
    const planned = await plan()
    if (request.options.has('dry-run')) return planned
    const isAgreed = await confirmPlan(request, {
      first: planned,
      again: plan,
      text: planText,
      question: 'Forget it?',
    })
    return isAgreed ? project.forget(path, request.hooks) : new Declined(planned)
  },
  render(result) {
    if (!result.applied) return planText(result)
    const { path, checkpoints, bytesReclaimed } = result
    return `Forgot ${displayPath(path)}: removed from ${formatCount(checkpoints.length, 'checkpoint')}, ${formatBytes(bytesReclaimed)} freed.`
  },
  note({ applied, isCurrent, remotes }) {
    if (!applied) return undefined
    const notes = [
      ...(isCurrent
        ? [
            'The file itself is still in the folder. Add it to .savestateignore, or the next save captures it again.',
          ]
        : []),
      ...remotes.map(
        (name) =>
          `The remote ${name} still has it. To remove it there too: savestate push --remote ${name}, then savestate prune --remote ${name}`,
      ),
    ]
    return notes.length === 0 ? undefined : notes.join('\n')
  },
})

function planText({ path, checkpoints, files, bytes: size }: ForgetResult): string {
  return [
    `This removes ${displayPath(path)} from ${formatCount(checkpoints.length, 'checkpoint')} (${formatCount(files, 'file')}, ${formatBytes(size)} at most).`,
    'After that no checkpoint can bring it back. The file in the folder stays.',
    'Copies under other names, in other projects or in the state of an agent are not touched.',
  ].join('\n')
}
