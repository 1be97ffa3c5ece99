import { type DoctorResult, doctorStore } from '../../index.js'
import { command } from '../command.js'
import { bytes, counted, grouped } from '../figures.js'
import { printable, printableLine } from '../printable.js'
import { version } from '../version.js'

export const run = command({
  call: ({ options, hooks }) =>
    doctorStore({ mayBlock: true, version: version(), paths: options.has('paths') }, hooks),
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
      ...(failures.length === 0
        ? ['Failures:  none']
        : ['Failures:', ...failures.map(failureLine)]),
      ...projects.map((path) => `Project:   ${printable(path)}`),
    ].join('\n')
  },
})

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
