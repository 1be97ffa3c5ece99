import {
  type ImportCheckpointsResult,
  type ImportOutlook,
  type ImportPlan,
  type ImportResult,
  SavestateError,
} from '../../internal.js'
import { command, type Request } from '../runtime/command.js'
import { confirmText } from '../runtime/confirm.js'
import { EXIT, withDefaultSignals } from '../runtime/exit.js'
import { formatCount, formatNumber } from '../terminal/format-numbers.js'
import { READERS } from '../exchange/import-kinds.js'
import { importPlanText, importResultText, problemsText } from '../exchange/import-text.js'
import { inSession } from '../runtime/open-session.js'
import { printableLine } from '../terminal/escape.js'
import { givenPathText } from '../runtime/path-arguments.js'
import { IMPORT_KINDS, IMPORT_SYSTEM_KINDS } from '../args/session-commands.js'

export const run = command({
  async call(request): Promise<ImportOutlook | ImportResult | ImportCheckpointsResult> {
    const system = IMPORT_SYSTEM_KINDS.find((name) => name === request.argument(0))
    return system === undefined ? importFile(request) : importSystem(request, system)
  },
  render(result, request) {
    if ('plan' in result) return importResultText(result, request)
    const { known } = result
    const session = printableLine(request.options.text('session') ?? '')
    if ('add' in result) {
      const there = known === 0 ? '' : `, ${formatNumber(known)} already there`
      return `${session}: ${formatCount(result.add, 'checkpoint')} to add${there}\nA dry run: nothing has been imported.`
    }
    const there =
      known === 0 ? '' : ` ${formatNumber(known)} ${known === 1 ? 'was' : 'were'} already there.`
    return `Imported ${formatCount(result.imported, 'checkpoint')} into ${session}.${there}`
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
  const kind = IMPORT_KINDS.find((name) => name === request.argument(0))
  if (kind === undefined) throw new Error('The command table accepts an unknown kind')
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
  const store = await request.store()
  // Read the whole file before changing anything: a malformed file leaves nothing behind.
  const { items, outlook } = await withDefaultSignals(async () => {
    const read = await READERS[kind](path)
    return { items: read, outlook: await store.maintenance.planImport(id, read()) }
  })
  if (request.options.has('dry-run')) return outlook
  return inSession(request, id, (session) => session.import(items()))
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
    const confirm = (plan: ImportPlan) =>
      ask(() =>
        confirmText(request, {
          plan: importPlanText(plan, request.screen.paintNote),
          question: 'Import this?',
        }),
      )
    return importFrom(store, system, choice, { ...hooks, confirm })
  })
}
