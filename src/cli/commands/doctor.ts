import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { type FoundHooks, installer, type LauncherState } from '../../agents/index.js'
import { defaultHome, type DoctorResult, doctorStore } from '../../internal.js'
import { command, type Request } from '../runtime/command.js'
import { AGENT_TITLES } from '../args/agent-commands.js'
import { withTilde } from '../install/install-text.js'
import { formatBytes, formatCount, formatNumber } from '../terminal/format-numbers.js'
import { displayPath, printable, printableLine } from '../terminal/escape.js'
import { version } from '../../base/index.js'

type Page = DoctorResult & {
  /** Our hooks in the user's configuration of agents and in that of the current folder. Null without HOME. */
  readonly hooks: readonly (FoundHooks & { readonly scope: 'user' | 'project' })[] | null
  /** The program that the user's hooks run. */
  readonly launcher: LauncherState
}

export const run = command<Page>({
  async call(request) {
    const paths = request.options.has('paths')
    const result = await doctorStore({
      inProcess: true,
      version: version(),
      paths,
      ...request.hooks,
    })
    return { ...result, hooks: await hooksIn(request), launcher: await launcherOf() }
  },
  render(result) {
    const { versions, sizes, failures, projects = [] } = result
    const parts = Object.entries(sizes).map(([part, size]) => `${part} ${formatBytes(size)}`)
    return [
      `Savestate ${versions.savestate}, node ${versions.node}, git ${versions.git}, SQLite ${versions.sqlite}, ${versions.system}`,
      ...gitLines(result),
      `Store:     ${printable(result.home)}, ledger version ${result.ledgerVersion}, ${result.ledgerBackupAt === null ? 'no backup of the ledger yet' : `ledger backup of ${result.ledgerBackupAt.toISOString()}`}`,
      `Size:      ${parts.join(', ')}; ${formatBytes(result.freeBytes)} free`,
      `Contains:  ${countsText(result)}`,
      `Active:    ${formatCount(result.unfinished, 'unfinished rewind')}, ${formatCount(result.leases, 'session')} in use`,
      `Verify:    ${problemsText(result)}`,
      `Settings:  ${settingsText(result)}`,
      ...(result.untrusted === 0
        ? []
        : [
            `           files of ${formatCount(result.untrusted, 'project')} ask for settings that are not in effect: \`savestate status\` lists them`,
          ]),
      `Hooks:     ${hooksText(result)}`,
      ...launcherLines(result),
      ...(failures.length === 0
        ? ['Failures:  none']
        : ['Failures:', ...failures.map(failureLine)]),
      ...projects.map((path) => `Project:   ${displayPath(path)}`),
    ].join('\n')
  },
})

/** The report is for other people: it shows the user's home folder as ~. */
async function launcherOf(): Promise<LauncherState> {
  const { launcherState } = await installer()
  const { path, exists, starts, gone } = launcherState(defaultHome(), process.env)
  const short = (one: string) => withTilde(one, process.env)
  return { path: short(path), exists, starts: starts?.map(short) ?? null, gone: gone.map(short) }
}

async function hooksIn({ folder }: Request): Promise<Page['hooks']> {
  if ((process.env['HOME'] ?? process.env['USERPROFILE']) === undefined) return null
  const { findHooks } = await installer()
  const common = {
    environment: process.env,
    programPath: process.argv[1] ?? 'savestate',
    nodePath: process.execPath,
    storeHome: defaultHome(),
  }
  // The same path as for the install: Codex records trust by path.
  const given = resolve(folder)
  const root = existsSync(given) ? realpathSync(given) : given
  const scopes = [{ type: 'user' }, { type: 'project', root }] as const
  const found = scopes.map(async (scope) =>
    (await findHooks({ ...common, scope })).map((one) => ({ ...one, scope: scope.type })),
  )
  return (await Promise.all(found)).flat()
}

function hooksText({ hooks }: Page): string {
  if (hooks === null) return 'unknown: HOME is not set'
  const texts = hooks.map(({ agent, scope, found, trusted }) => {
    const option = scope === 'project' ? ' --project' : ''
    const note =
      found === 'outdated'
        ? `: they depend on PATH; renew them with \`savestate install ${agent}${option}\``
        : found === 'unreadable'
          ? ': cannot be read'
          : trusted === false
            ? `, not trusted yet: savestate install ${agent}${option} --trust`
            : ''
    return `${AGENT_TITLES[agent]} (${scope}${note})`
  })
  return texts.join(', ') || 'none'
}

/** Empty if no agent uses it. */
function launcherLines({ hooks, launcher }: Page): readonly string[] {
  const used = hooks?.find(({ scope, found }) => scope === 'user' && found === 'installed')
  if (used === undefined) return []
  const { path, exists, starts, gone } = launcher
  const again = `run \`savestate install ${used.agent}\` again`
  if (!exists) return [`Launcher:  ${displayPath(path)} is missing: ${again}`]
  if (starts === null)
    return [`Launcher:  finds no Savestate, so the hooks save nothing: install it, then ${again}`]
  const found = `Launcher:  starts ${starts.map(displayPath).join(' ')}`
  if (gone.length === 0) return [found]
  return [
    found,
    `           ${gone.map(displayPath).join(' and ')} ${gone.length > 1 ? 'are' : 'is'} gone: ${again}`,
  ]
}

function countsText({ counts }: DoctorResult): string {
  if (counts === null) return 'unknown: the ledger cannot be read'
  const { projects, sessions, checkpoints, damaged } = counts
  const note = damaged === 0 ? '' : `, ${formatNumber(damaged)} of them damaged`
  return `${formatCount(projects, 'project')}, ${formatCount(sessions, 'session')}, ${formatCount(checkpoints, 'checkpoint')}${note}`
}

function gitLines({ gitProblem }: DoctorResult): string[] {
  if (gitProblem === null) return []
  const { message, hint } = gitProblem
  return [`Git:       ${printableLine(message)}.${hint === null ? '' : ` ${hint}`}`]
}

function problemsText({ problems, isVerified }: DoctorResult): string {
  if (!isVerified) return 'not possible without git'
  const found = problems.map(
    ({ kind, severity, count }) => `${kind} ${formatNumber(count)} (${severity})`,
  )
  return `${found.join(', ') || 'nothing found'} (quick)`
}

function settingsText({ settings }: DoctorResult): string {
  if (settings === null) return 'malformed: `savestate config` shows the error'
  const changed = settings.filter(({ source }) => source !== 'default')
  const texts = changed.map(
    ({ key, value, source }) => `${key} = ${JSON.stringify(value)} (${source})`,
  )
  return texts.join(', ') || 'all defaults'
}

function failureLine({ at, operation, code, message }: DoctorResult['failures'][number]): string {
  return `  ${at.toISOString()}  ${operation}  ${code}${message === undefined ? '' : `  ${printableLine(message)}`}`
}
