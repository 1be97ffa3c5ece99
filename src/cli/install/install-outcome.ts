// The outcome of an install or uninstall, as data and as text.
import type { AgentName } from '../../base/index.js'
import type { FileChange, Plan } from '../../agents/index.js'
import type { ErrorText } from '../../index.js'
import { AGENT_TITLES } from '../args/agent-commands.js'
import type { Request } from '../runtime/command.js'
import { EXIT } from '../runtime/exit.js'
import { diffLines, filesText, permissionText, type Planned } from './install-text.js'
import { displayPath, printable, printableLines } from '../terminal/escape.js'

export type AgentResult = Pick<Plan, 'notes' | 'permission'> & {
  readonly agent: AgentName
  readonly files: readonly (Pick<FileChange, 'path' | 'holds'> & {
    readonly change: 'make' | 'change' | 'remove'
    readonly diff: readonly string[]
  })[]
  readonly applied: boolean
  readonly error?: ErrorText
  /** For Codex: whether the hooks are trusted now. */
  readonly trusted?: boolean
  readonly isTrustNew?: boolean
}

export type Outcome = {
  readonly scope: 'user' | 'project'
  readonly declined: boolean
  readonly agents: readonly AgentResult[]
}

export function resultOf({ request, plan }: Planned, applied: boolean): AgentResult {
  const files = plan.changes.map(
    ({ path, before, after, holds }) =>
      ({
        path,
        ...(holds === undefined ? {} : { holds }),
        change: before === undefined ? 'make' : after === undefined ? 'remove' : 'change',
        diff: after === undefined ? [] : diffLines(before ?? '', after),
      }) as const,
  )
  const { notes, permission } = plan
  const granted = permission === undefined ? {} : { permission }
  return { agent: request.agent, files, notes, applied, ...granted }
}

export function outcomeText({ agents, declined }: Outcome, request: Request): string {
  if (declined) return 'Nothing has been changed.'
  const isInstall = request.command === 'install'
  if (isInstall && agents.length === 0) return 'No agent was found here.'
  // `uninstall --all` lists only agents that had our hooks.
  const shown = request.options.has('all') && !isInstall ? agents.filter(hasNews) : agents
  if (shown.length === 0) return 'No agent has Savestate hooks here.'
  const isNew = isInstall && shown.some(hasNewHooks)
  return [
    ...shown.flatMap((result) => agentLines(result, request)),
    ...(isNew
      ? [`They take effect the next time you start ${shown.length > 1 ? 'the agent' : 'it'}.`]
      : []),
    ...shown.flatMap(trustLines),
  ].join('\n')
}

export function outcomeExit({ agents, declined }: Outcome): number {
  if (declined) return EXIT.declined
  return agents.some(({ error }) => error !== undefined) ? EXIT.failed : EXIT.done
}

function hasNews({ files, notes, permission, error }: AgentResult): boolean {
  const isSame = files.length === 0 && notes.length === 0
  return !isSame || permission !== undefined || error !== undefined
}

function hasNewHooks({ files, applied }: AgentResult): boolean {
  const isHook = files.some(({ holds }) => holds !== undefined && holds.hooks + holds.plugins > 0)
  return applied && isHook
}

function agentLines(result: AgentResult, request: Request): readonly string[] {
  const isInstall = request.command === 'install'
  const { agent, files, notes, applied, error } = result
  const title = AGENT_TITLES[agent]
  if (error !== undefined) return [`${title}: ${printableLines(error.message)}`]
  const noted = notes.map((note) => `${title}: ${printableLines(note)}`)
  const allowed = result.permission === undefined ? [] : [permissionText(agent, result.permission)]
  if (files.length === 0 && allowed.length > 0)
    return [...noted, ...(applied ? allowed : [`Would apply: ${allowed.join()}`])]
  if (files.length === 0) {
    if (!isInstall) return [...noted, `${title} has no Savestate hooks here: nothing to do.`]
    if (result.isTrustNew === true)
      return [...noted, `Hooks for ${title} were installed already, and are trusted now.`]
    const nothing = result.trusted === false ? '' : ': nothing to do'
    return [...noted, `Hooks for ${title} are installed already${nothing}.`]
  }
  if (!applied) {
    const lines = files.flatMap(({ path, change, diff }) => [
      `  ${change === 'make' ? 'create' : change} ${displayPath(path)}`,
      ...diff.map((line) => `    ${printable(line)}`),
    ])
    const would = isInstall ? 'added' : 'removed'
    return [...noted, `Hooks for ${title} would be ${would}:`, ...lines, ...allowed]
  }
  const where = filesText(files, process.env)
  const changed = hasNewHooks(result)
    ? `Hooks for ${title} added to`
    : `Configuration of ${title} changed in`
  const what = isInstall ? changed : `Hooks for ${title} removed from`
  return [...noted, `${request.screen.paint('green', what)} ${where}.`, ...allowed]
}

function trustLines({ trusted }: AgentResult): readonly string[] {
  if (trusted !== false) return []
  return [
    'Codex does not run them until you trust them: start Codex and confirm, or run',
    '`savestate install codex --trust`.',
  ]
}
