import { stopDaemon } from '../../daemon/index.js'
import { type ClearResult, clearStore } from '../../internal.js'
import { folderText } from '../render/checkpoint-table.js'
import { command, Declined, type Request } from '../runtime/command.js'
import { confirmPlan, confirmText } from '../runtime/confirm.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { printable } from '../terminal/escape.js'

type Cleared = {
  /** The value for --json. */
  readonly result: ClearResult | { readonly applied: boolean; readonly bytesReclaimed?: number }
  readonly text: string
}

export const run = command<Cleared>({
  call: (request) => (request.options.has('all') ? clearAll(request) : clearOne(request)),
  json: ({ result }) => result,
  render: ({ text }) => text,
})

async function clearOne(request: Request): Promise<Cleared | Declined<Cleared>> {
  const project = await request.project()
  const plan = () => project.clear({ dryRun: true, ...request.hooks })
  const planned = await plan()
  const folder = folderText(planned.path)
  if (planned.checkpoints + planned.sessions === 0)
    return {
      result: planned,
      text: `There is nothing to remove: the store has no data of ${folder}.`,
    }
  const text = planText(planned)
  if (request.options.has('dry-run')) return { result: planned, text }
  const prompt = { first: planned, again: plan, text: planText, question: 'Remove it?' }
  if (!isGiven(request) && !(await confirmPlan(request, prompt)))
    return new Declined({ result: planned, text })
  const result = await project.clear(request.hooks)
  const { checkpoints, sessions, bytesReclaimed } = result
  return {
    result,
    text: `Removed ${formatCount(checkpoints, 'checkpoint')} and ${formatCount(sessions, 'session')} of ${folder}, freed ${formatBytes(bytesReclaimed)}.`,
  }
}

function planText({ path, checkpoints, sessions }: ClearResult): string {
  return [
    `This removes everything that the store has of ${folderText(path)}:`,
    `  ${formatCount(checkpoints, 'checkpoint')}, ${formatCount(sessions, 'session')}`,
    'It cannot be undone. The folder itself is not touched; other projects stay (--all removes them too).',
  ].join('\n')
}

/** Opens the store only to show its contents: with --yes a damaged store can be cleared too. */
async function clearAll(request: Request): Promise<Cleared | Declined<Cleared>> {
  const isDryRun = request.options.has('dry-run')
  if (isDryRun || !isGiven(request)) {
    const store = await request.store()
    const { home, sizeBytes, projects, sessions, unattached } = await store.status(request.hooks)
    const checkpoints = projects.reduce((sum, project) => sum + project.checkpoints, unattached)
    const text = [
      `This removes everything in ${printable(home)} (${formatBytes(sizeBytes)}):`,
      `  ${formatCount(checkpoints, 'checkpoint')} of ${formatCount(projects.length, 'project')}, ${formatCount(sessions.length, 'session')}`,
      'It cannot be undone.',
    ].join('\n')
    const planned = { result: { applied: false }, text }
    if (isDryRun) return planned
    if (!(await confirmText(request, { plan: text, question: 'Remove it all?' })))
      return new Declined(planned)
    await store.close()
  }
  await stopDaemon()
  const { bytesReclaimed } = await clearStore()
  const text = [
    `The store is empty: ${formatBytes(bytesReclaimed)} freed.`,
    'Your settings (config.json) stay, and so do bin, which the hooks of agents start, and format and locks, which running programs use.',
    'To remove these too, run `savestate uninstall --all` and delete the folder.',
  ].join('\n')
  return { result: { applied: true, bytesReclaimed }, text }
}

function isGiven({ options }: Request): boolean {
  return options.has('force') || options.has('yes')
}
