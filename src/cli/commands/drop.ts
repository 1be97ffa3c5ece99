import type { DropResult } from '../../index.js'
import { command, Declined, type Request } from '../runtime/command.js'
import { confirmPlan } from '../runtime/confirm.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { printableLine } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import { shortIdOf } from '../terminal/short-id.js'

export const run = command<DropResult>({
  async call(request) {
    const project = await request.project()
    const of = request.options.text('session')
    const scope = of === undefined ? {} : { of }
    const plan = (given: readonly string[]) =>
      project.drop(given, { ...scope, dryRun: true, ...request.hooks })
    const planned = await plan(request.positionals)
    if (request.options.has('dry-run')) return planned
    // From here on by id: numbers shift as soon as an agent saves.
    const refs = planned.checkpoints.map(({ id }) => id)
    const count = refs.length
    const isAgreed = await confirmPlan(request, {
      first: planned,
      again: () => plan(refs),
      text: (result) => planText(result, request),
      question: count === 1 ? 'Drop this checkpoint?' : `Drop these ${count} checkpoints?`,
    })
    return isAgreed ? project.drop(refs, { ...scope, ...request.hooks }) : new Declined(planned)
  },
  async render(result, request) {
    if (!result.applied) return planText(result, request)
    const { checkpoints, bytesReclaimed } = result
    const dropped = `Dropped ${formatCount(checkpoints.length, 'checkpoint')}, freed ${formatBytes(bytesReclaimed)}:`
    return [dropped, ...(await checkpointLines(result, request))].join('\n')
  },
})

async function checkpointLines(
  { checkpoints }: DropResult,
  request: Request,
): Promise<readonly string[]> {
  const lines: string[] = []
  for (const { id, createdAt, name, reason } of checkpoints) {
    const label = name === null ? '' : `[${printableLine(name)}] `
    const age = relativeTime(createdAt, request.screen.now)
    const what = `${label}${printableLine(reason ?? '')}`
    lines.push(`  ${await shortIdOf(request, id)}  ${age}  ${what}`.trimEnd())
  }
  return lines
}

async function planText(planned: DropResult, request: Request): Promise<string> {
  const { checkpoints, sessions, forgetsUndo } = planned
  return [
    `This removes ${formatCount(checkpoints.length, 'checkpoint')}:`,
    ...(await checkpointLines(planned, request)),
    ...sessions.map(
      (id) => `The session ${printableLine(id)} has no other checkpoint and is removed too.`,
    ),
    ...(forgetsUndo ? ['The last rewind can no longer be undone.'] : []),
    'It cannot be undone. The folder is not touched.',
  ].join('\n')
}
