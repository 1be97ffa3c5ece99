import {
  type ImportCheckpointsResult,
  type ImportOutlook,
  type ImportPlan,
  type ImportProblem,
  type ImportResult,
  type ImportSource,
  SavestateError,
} from '../../internal.js'
import { IMPORT_SYSTEM_KINDS } from '../args/agent-commands.js'
import { readImportFile } from '../exchange/import-file.js'
import { command, type Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { EXIT, withDefaultSignals } from '../runtime/exit.js'
import { inSession } from '../runtime/open-session.js'
import { givenPathText } from '../runtime/path-arguments.js'
import type { Paint } from '../terminal/colors.js'
import { displayPath, printableLine } from '../terminal/escape.js'
import { formatCount, formatNumber } from '../terminal/format-numbers.js'
import { localTime } from '../terminal/relative-time.js'

const NOTHING_DONE = 'A dry run: nothing has been imported.'

const SOURCES: Readonly<Record<string, string>> = {
  'hermes-v1': 'Hermes repository of one folder',
  'hermes-v2': 'Hermes shared store',
  'hermes-task': 'Hermes task file',
  ares: 'ares session',
  breakpilot: 'Breakpilot export',
}

export const run = command({
  async call(request): Promise<ImportOutlook | ImportResult | ImportCheckpointsResult> {
    const kind = request.argument(0)
    const system = IMPORT_SYSTEM_KINDS.find((name) => name === kind)
    return system === undefined ? importFile(request) : importSystem(request, system)
  },
  render(result, { options, screen }) {
    const { known } = result
    const there =
      known === 0 ? '' : ` ${formatNumber(known)} ${known === 1 ? 'was' : 'were'} already there.`
    if ('plan' in result) {
      if (result.declined) return 'Nothing has been imported.'
      if (options.has('dry-run'))
        return [
          ...result.plan.sources.map((source) => sourceText(source, screen.paint)),
          NOTHING_DONE,
        ].join('\n')
      if (!result.applied) return `Nothing to import.${there}`
      return `Imported ${formatCount(result.added, 'checkpoint')}.${there}`
    }
    const session = printableLine(options.text('session') ?? '')
    return 'add' in result
      ? `${session}: ${toAdd(result)}\n${NOTHING_DONE}`
      : `Imported ${formatCount(result.imported, 'checkpoint')} into ${session}.${there}`
  },
  note: (result, { screen }) =>
    'plan' in result ? problemsText(result.problems, screen.paintNote) : undefined,
  exitCode(result) {
    if (!('plan' in result)) return EXIT.done
    if (result.declined) return EXIT.declined
    const isAllUnreadable = result.added + result.known + result.plan.add === 0
    return isAllUnreadable ? EXIT.failed : EXIT.done
  },
})

async function importFile(request: Request): Promise<ImportOutlook | ImportResult> {
  const kind = request.argument(0) === 'yaml' ? 'yaml' : 'json'
  const id = request.options.text('session')
  if (id === undefined) {
    throw new SavestateError('BAD_INPUT', '--session ID is missing', {
      hint: `Name the session to add to: savestate import ${kind} PATH --session ID`,
    })
  }
  const path = request.positionals[1]
  if (path === undefined) {
    throw new SavestateError('BAD_INPUT', 'PATH is missing', {
      hint: `Name a file that \`savestate export\` has written, or - for stdin: savestate import ${kind} PATH`,
    })
  }
  const { maintenance } = await request.store()
  // Read the whole file before changing anything: a malformed file leaves nothing behind.
  const { items, outlook } = await withDefaultSignals(async () => {
    const read = await readImportFile(kind, path)
    return { items: read, outlook: await maintenance.planImport(id, read) }
  })
  if (request.options.has('dry-run')) return outlook
  // As an iterator: an array would be checked and copied again.
  return inSession(request, id, (session) => session.import(items.values()))
}

async function importSystem(
  request: Request,
  system: (typeof IMPORT_SYSTEM_KINDS)[number],
): Promise<ImportCheckpointsResult> {
  const { options, hooks } = request
  const [session, prefix] = [options.text('session'), options.text('prefix')]
  const path = request.positionals[1]
  const store = await request.store()
  const { importFrom } = await import('../../imports/index.js')
  const choice = {
    ...(path === undefined ? {} : { path: givenPathText(path) }),
    ...(session === undefined ? {} : { session }),
    ...(prefix === undefined ? {} : { prefix }),
    dryRun: options.has('dry-run'),
  }
  return withDefaultSignals((ask) => {
    const confirm = ({ sources, problems }: ImportPlan) => {
      const paint = request.screen.paintNote
      const parts = [
        ...sources.map((source) => sourceText(source, paint)),
        problemsText(problems, paint) ?? [],
      ]
      const plan = parts.flat().join('\n')
      return ask(() => confirmText(request, { plan, question: 'Import this?' }))
    }
    return importFrom(store, system, choice, { ...hooks, confirm })
  })
}

function toAdd({ add, known }: ImportOutlook): string {
  const there = known === 0 ? '' : `, ${formatNumber(known)} already there`
  return `${formatCount(add, 'checkpoint')} to add${there}`
}

function sourceText(source: ImportSource, paint: Paint): string {
  const { kind, project, session, oldest, newest } = source
  const what = project === null ? `session ${printableLine(session ?? '')}` : displayPath(project)
  const times = [...new Set([oldest ?? [], newest ?? []].flat())].map(localTime)
  const range = times.length === 0 ? '' : `, ${times.join(' to ')}`
  const origin = `${SOURCES[kind] ?? kind}, ${printableLine(source.source)}`
  return `${paint('bold', what)}: ${toAdd(source)}${range}\n  ${paint('dim', origin)}`
}

/** Undefined if there are none. */
function problemsText(problems: readonly ImportProblem[], paint: Paint): string | undefined {
  if (problems.length === 0) return undefined
  return [
    `${paint('bold', 'Not imported')} (${formatNumber(problems.length)}):`,
    ...problems.map(
      ({ source, message }) =>
        `  ${paint('yellow', printableLine(source))}: ${printableLine(message)}`,
    ),
  ].join('\n')
}
