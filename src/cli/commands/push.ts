import type { PushedLog, PushResult } from '../../index.js'
import { command } from '../runtime/command.js'
import { EXIT } from '../runtime/exit.js'
import { failureLines, forkLines } from '../render/shared-logs.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { printableLine } from '../terminal/escape.js'
import { quoteForShell } from '../terminal/shell-quote.js'

export const run = command<PushResult>({
  async call({ store, project, positionals, options }) {
    const remote = options.text('remote')
    const which =
      positionals.length > 0
        ? { sessions: positionals }
        : options.has('all')
          ? {}
          : { project: await project() }
    return (await store()).remotes.push({ ...which, ...(remote === undefined ? {} : { remote }) })
  },
  render({ remote, pushed }, { screen, options }) {
    const sent = pushed.filter(({ segments }) => segments > 0)
    const bytes = sent.reduce((sum, log) => sum + log.bytes, 0)
    const failed = pushed.filter(({ error }) => error !== null)
    const done =
      sent.length === 0
        ? [emptyText({ remote, pushed }, { isAll: options.has('all') })]
        : [
            `${sentText(sent, options.has('all'))} sent to ${remote.name} (${formatBytes(bytes)})${namesOf(sent)}.`,
          ]
    const lines = [...forkLines(pushed), ...deletedLines(pushed), ...failureLines(failed, screen)]
    return [...done, ...lines].join('\n')
  },
  exitCode: ({ pushed }) => (pushed.some(({ error }) => error !== null) ? EXIT.failed : EXIT.done),
})

function emptyText({ remote, pushed }: PushResult, { isAll }: { readonly isAll: boolean }): string {
  if (pushed.length > 0) return `Nothing to send: ${remote.name} has everything.`
  return isAll
    ? 'Nothing to send: the store is empty.'
    : 'Nothing to send: this project has no checkpoints. For those of all projects: savestate push --all'
}

/** `2 sessions and 12 checkpoints of this project` */
function sentText(sent: readonly PushedLog[], isAll: boolean): string {
  const sessions = sent.filter(({ kind }) => kind !== 'project')
  const projects = sent.filter(({ kind }) => kind === 'project')
  const saves = projects.reduce((sum, { checkpoints }) => sum + checkpoints, 0)
  const of = isAll ? formatCount(projects.length, 'project') : 'this project'
  const checkpoints = saves === 0 ? 'removals of checkpoints' : formatCount(saves, 'checkpoint')
  return [
    ...(sessions.length === 0 ? [] : [formatCount(sessions.length, 'session')]),
    ...(projects.length === 0 ? [] : [`${checkpoints} of ${of}`]),
  ].join(' and ')
}

function deletedLines(logs: readonly PushedLog[]): readonly string[] {
  return logs.flatMap(({ id, isDeleted }) =>
    isDeleted
      ? [
          `${printableLine(id)} was deleted there. To send it again: savestate push ${quoteForShell(id)}`,
        ]
      : [],
  )
}

const MAX_NAMES = 5

function namesOf(sent: readonly PushedLog[]): string {
  const logs = sent.filter(({ kind }) => kind !== 'project')
  if (logs.length === 0) return ''
  const names = logs.slice(0, MAX_NAMES).map(({ id }) => printableLine(id))
  const more = logs.length - names.length
  return `: ${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
