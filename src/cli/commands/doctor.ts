import { type FoundHooks, installer } from '../../adapters/index.js'
import { defaultHome, type DoctorResult, doctorStore } from '../../index.js'
import { command, type Request } from '../command.js'
import { bytes, counted, grouped } from '../figures.js'
import { pathForPeople, printable, printableLine } from '../printable.js'
import { version } from '../version.js'

type Page = DoctorResult & {
  /** Our hooks in the configuration of agents: the person's own, and that of the folder the person is in. Null without HOME. */
  readonly hooks: readonly (FoundHooks & { readonly scope: 'user' | 'project' })[] | null
}

export const run = command<Page>({
  async call(request) {
    const paths = request.options.has('paths')
    const result = await doctorStore({ mayBlock: true, version: version(), paths }, request.hooks)
    return { ...result, hooks: await hooksIn(request) }
  },
  render(result) {
    const { versions, sizes, failures, projects = [] } = result
    const parts = Object.entries(sizes).map(([part, size]) => `${part} ${bytes(size)}`)
    return [
      `Savestate ${versions.savestate}, node ${versions.node}, git ${versions.git}, SQLite ${versions.sqlite}, ${versions.system}`,
      `Store:     ${printable(result.home)}, ledger version ${result.ledgerVersion}`,
      `Size:      ${parts.join(', ')}; ${bytes(result.freeBytes)} free`,
      `Holds:     ${countsText(result)}`,
      `At work:   ${counted(result.unfinished, 'unfinished rewind')}, ${counted(result.leases, 'session')} in use`,
      `Verify:    ${problemsText(result)}`,
      `Settings:  ${settingsText(result)}`,
      `Hooks:     ${hooksText(result)}`,
      ...(failures.length === 0
        ? ['Failures:  none']
        : ['Failures:', ...failures.map(failureLine)]),
      ...projects.map((path) => `Project:   ${pathForPeople(path)}`),
    ].join('\n')
  },
})

async function hooksIn({ folder, options }: Request): Promise<Page['hooks']> {
  // A page for a report comes from any environment.
  if ((process.env['HOME'] ?? process.env['USERPROFILE']) === undefined) return null
  const { findHooks } = await installer()
  const common = {
    environment: process.env,
    programPath: process.argv[1] ?? 'savestate',
    storeHome: defaultHome(),
  }
  const scopes = [{ type: 'user' }, { type: 'project', root: options.text('C') ?? folder }] as const
  const found = scopes.map(async (scope) =>
    (await findHooks({ ...common, scope })).map((one) => ({ ...one, scope: scope.type })),
  )
  return (await Promise.all(found)).flat()
}

function hooksText({ hooks }: Page): string {
  if (hooks === null) return 'unknown: HOME is not set'
  const texts = hooks.map(({ agent, scope, found }) =>
    found === 'installed' ? `${agent} (${scope})` : `${agent} (${scope}: cannot be read)`,
  )
  return texts.join(', ') || 'none'
}

function countsText({ counts }: DoctorResult): string {
  if (counts === null) return 'unknown: the ledger cannot be read'
  const { projects, sessions, checkpoints, damaged } = counts
  const note = damaged === 0 ? '' : `, ${grouped(damaged)} of them damaged`
  return `${counted(projects, 'project')}, ${counted(sessions, 'session')}, ${counted(checkpoints, 'checkpoint')}${note}`
}

function problemsText({ problems }: DoctorResult): string {
  if (problems.length === 0) return 'nothing found (quick)'
  const lines = problems.map(
    ({ kind, severity, count }) => `${kind} ${grouped(count)} (${severity})`,
  )
  return `${lines.join(', ')} (quick)`
}

function settingsText({ settings }: DoctorResult): string {
  if (settings === null) return 'malformed: `savestate config` says why'
  const set = settings.filter(({ source }) => source !== 'default')
  if (set.length === 0) return 'all as they come'
  return set
    .map(({ key, value, source }) => `${key} = ${JSON.stringify(value)} (${source})`)
    .join(', ')
}

function failureLine({ at, operation, code, message }: DoctorResult['failures'][number]): string {
  return `  ${at}  ${operation}  ${code}${message === undefined ? '' : `  ${printableLine(message)}`}`
}
