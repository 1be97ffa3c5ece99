import { stopDaemon } from '../../daemon/index.js'
import { type ClearResult, clearStore } from '../../internal.js'
import { folderText } from '../render/checkpoint-table.js'
import { command, type Request } from '../runtime/command.js'
import { confirmPlan, confirmText } from '../runtime/confirm.js'
import { EXIT } from '../runtime/exit.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { printable } from '../terminal/escape.js'

type Cleared = {
  readonly applied: boolean
  readonly bytesReclaimed?: number
  /** The result of clearing one project. */
  readonly project?: ClearResult
  readonly text: string
}

export const run = command<Cleared>({
  call: (request) => (request.options.has('all') ? clearAll(request) : clearOne(request)),
  json: ({ applied, bytesReclaimed, project }) =>
    project ?? { applied, ...(bytesReclaimed === undefined ? {} : { bytesReclaimed }) },
  render: ({ text }) => text,
  exitCode: ({ applied, text }) => (applied || text !== DECLINED ? EXIT.done : EXIT.declined),
})

const DECLINED = 'Nothing has been removed.'

async function clearOne(request: Request): Promise<Cleared> {
  const project = await request.project()
  const planned = await project.clear({ dryRun: true, ...request.hooks })
  const folder = folderText(planned.path)
  if (planned.checkpoints + planned.sessions === 0)
    return {
      applied: false,
      project: planned,
      text: `There is nothing to remove: the store has no data of ${folder}.`,
    }
  if (request.options.has('dry-run'))
    return { applied: false, project: planned, text: planText(planned) }
  const again = () => project.clear({ dryRun: true, ...request.hooks })
  const asking = { first: planned, again, text: planText, question: 'Remove it?' }
  const isAgreed = isGiven(request) || (await confirmPlan(request, asking))
  if (!isAgreed) return { applied: false, project: planned, text: DECLINED }
  const cleared = await project.clear(request.hooks)
  const { checkpoints, sessions, bytesReclaimed, applied } = cleared
  const text = `Removed ${formatCount(checkpoints, 'checkpoint')} and ${formatCount(sessions, 'session')} of ${folder}, freed ${formatBytes(bytesReclaimed)}.`
  return { applied, project: cleared, text }
}

function planText({ path, checkpoints, sessions }: ClearResult): string {
  return [
    `This removes everything that the store has of ${folderText(path)}:`,
    `  ${formatCount(checkpoints, 'checkpoint')}, ${formatCount(sessions, 'session')}`,
    'It cannot be undone. The folder itself is not touched; other projects stay (--all removes them too).',
  ].join('\n')
}

/** Opens the store only to show its contents: with --yes a damaged store can be cleared too. */
async function clearAll(request: Request): Promise<Cleared> {
  const isDryRun = request.options.has('dry-run')
  if (isDryRun || !isGiven(request)) {
    const store = await request.store()
    const { home, sizeBytes, projects, sessions, unattached } = await store.status(request.hooks)
    const checkpoints = projects.reduce((sum, project) => sum + project.checkpoints, unattached)
    const plan = [
      `This removes everything in ${printable(home)} (${formatBytes(sizeBytes)}):`,
      `  ${formatCount(checkpoints, 'checkpoint')} of ${formatCount(projects.length, 'project')}, ${formatCount(sessions.length, 'session')}`,
      'It cannot be undone.',
    ].join('\n')
    if (isDryRun) return { applied: false, text: plan }
    if (!(await confirmText(request, { plan, question: 'Remove it all?' })))
      return { applied: false, text: DECLINED }
    await store.close()
  }
  await stopDaemon()
  const { bytesReclaimed } = await clearStore()
  const text = [
    `The store is empty: ${formatBytes(bytesReclaimed)} freed.`,
    'Your settings (config.json) stay, and so do bin, which the hooks of agents start, and format and locks, which running programs use.',
    'To remove these too, run `savestate uninstall --all` and delete the folder.',
  ].join('\n')
  return { applied: true, bytesReclaimed, text }
}

function isGiven({ options }: Request): boolean {
  return options.has('force') || options.has('yes')
}
