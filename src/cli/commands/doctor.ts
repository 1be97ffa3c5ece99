import { existsSync, realpathSync } from 'node:fs'
import { resolve } from 'node:path'
import { type FoundHooks, installer, type LauncherState } from '../../agents/index.js'
import { defaultHome, type DoctorResult, doctorStore } from '../../internal.js'
import { command, type Request } from '../runtime/command.js'
import { AGENT_TITLES } from '../args/agent-commands.js'
import { withTilde } from '../install/install-text.js'
import { bytes, counted, grouped } from '../terminal/format-numbers.js'
import { pathForPeople, printable, printableLine } from '../terminal/escape.js'
import { version } from '../../base/index.js'

type Page = DoctorResult & {
  /** Our hooks in the configuration of agents: that of the user, and that of the current folder. Null without HOME. */
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
    const parts = Object.entries(sizes).map(([part, size]) => `${part} ${bytes(size)}`)
    return [
      `Savestate ${versions.savestate}, node ${versions.node}, git ${versions.git}, SQLite ${versions.sqlite}, ${versions.system}`,
      ...gitLines(result),
      `Store:     ${printable(result.home)}, ledger version ${result.ledgerVersion}, ${backupText(result)}`,
      `Size:      ${parts.join(', ')}; ${bytes(result.freeBytes)} free`,
      `Holds:     ${countsText(result)}`,
      `At work:   ${counted(result.unfinished, 'unfinished rewind')}, ${counted(result.leases, 'session')} in use`,
      `Verify:    ${problemsText(result)}`,
      `Settings:  ${settingsText(result)}`,
      ...untrustedLines(result),
      `Hooks:     ${hooksText(result)}`,
      ...launcherLines(result),
      ...(failures.length === 0
        ? ['Failures:  none']
        : ['Failures:', ...failures.map(failureLine)]),
      ...projects.map((path) => `Project:   ${pathForPeople(path)}`),
    ].join('\n')
  },
})

function backupText({ ledgerBackupAt }: Page): string {
  return ledgerBackupAt === null
    ? 'no backup of the ledger yet'
    : `ledger backup of ${ledgerBackupAt.toISOString()}`
}

/** A report goes to others: the home of the user is ~ in it. */
async function launcherOf(): Promise<LauncherState> {
  const { launcherState } = await installer()
  const { path, exists, starts, gone } = launcherState(defaultHome(), process.env)
  const short = (one: string) => withTilde(one, process.env)
  return { path: short(path), exists, starts: starts?.map(short) ?? null, gone: gone.map(short) }
}

async function hooksIn({ folder }: Request): Promise<Page['hooks']> {
  // A page for a report comes from any environment.
  if ((process.env['HOME'] ?? process.env['USERPROFILE']) === undefined) return null
  const { findHooks } = await installer()
  const common = {
    environment: process.env,
    programPath: process.argv[1] ?? 'savestate',
    nodePath: process.execPath,
    storeHome: defaultHome(),
  }
  // As the install names it: trust in hooks of Codex is recorded under their path.
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

/** None if no agent uses it. */
function launcherLines({ hooks, launcher }: Page): readonly string[] {
  const used = hooks?.find(({ scope, found }) => scope === 'user' && found === 'installed')
  if (used === undefined) return []
  const { path, exists, starts, gone } = launcher
  const again = `run \`savestate install ${used.agent}\` again`
  if (!exists) return [`Launcher:  ${pathForPeople(path)} is missing: ${again}`]
  if (starts === null)
    return [`Launcher:  finds no Savestate, so the hooks save nothing: install it, then ${again}`]
  const found = `Launcher:  starts ${starts.map(pathForPeople).join(' ')}`
  if (gone.length === 0) return [found]
  return [
    found,
    `           ${gone.map(pathForPeople).join(' and ')} ${gone.length > 1 ? 'are' : 'is'} gone: ${again}`,
  ]
}

function countsText({ counts }: DoctorResult): string {
  if (counts === null) return 'unknown: the ledger cannot be read'
  const { projects, sessions, checkpoints, damaged } = counts
  const note = damaged === 0 ? '' : `, ${grouped(damaged)} of them damaged`
  return `${counted(projects, 'project')}, ${counted(sessions, 'session')}, ${counted(checkpoints, 'checkpoint')}${note}`
}

function gitLines({ gitProblem }: DoctorResult): string[] {
  if (gitProblem === null) return []
  const { message, hint } = gitProblem
  return [`Git:       ${printableLine(message)}.${hint === null ? '' : ` ${hint}`}`]
}

function problemsText({ problems, isVerified }: DoctorResult): string {
  if (!isVerified) return 'not possible without git'
  if (problems.length === 0) return 'nothing found (quick)'
  const lines = problems.map(
    ({ kind, severity, count }) => `${kind} ${grouped(count)} (${severity})`,
  )
  return `${lines.join(', ')} (quick)`
}

function settingsText({ settings }: DoctorResult): string {
  if (settings === null) return 'malformed: `savestate config` says why'
  const set = settings.filter(({ source }) => source !== 'default')
  if (set.length === 0) return 'all defaults'
  return set
    .map(({ key, value, source }) => `${key} = ${JSON.stringify(value)} (${source})`)
    .join(', ')
}

function untrustedLines({ untrusted }: DoctorResult): string[] {
  if (untrusted === 0) return []
  return [
    `           files of ${counted(untrusted, 'project')} ask for settings that are not in effect: \`savestate status\` lists them`,
  ]
}

function failureLine({ at, operation, code, message }: DoctorResult['failures'][number]): string {
  return `  ${at.toISOString()}  ${operation}  ${code}${message === undefined ? '' : `  ${printableLine(message)}`}`
}
