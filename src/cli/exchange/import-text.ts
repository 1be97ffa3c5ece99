// The plan and the result of an import as text.
import type {
  ImportCheckpointsResult,
  ImportPlan,
  ImportProblem,
  ImportSource,
} from '../../internal.js'
import type { Request } from '../runtime/command.js'
import { formatCount, formatNumber } from '../terminal/format-numbers.js'
import type { Paint } from '../terminal/colors.js'
import { displayPath, printableLine } from '../terminal/escape.js'
import { localTime } from '../terminal/relative-time.js'

const KINDS: Readonly<Record<string, string>> = {
  'hermes-v1': 'Hermes repository of one folder',
  'hermes-v2': 'Hermes shared store',
  'hermes-task': 'Hermes task file',
  ares: 'ares session',
  breakpilot: 'Breakpilot export',
}

/** The sources, then the unreadable ones. */
export function importPlanText({ sources, problems }: ImportPlan, paint: Paint): string {
  return [
    ...sources.map((source) => sourceText(source, paint)),
    ...(problems.length === 0 ? [] : [problemsText(problems, paint) ?? '']),
  ].join('\n')
}

export function importResultText(result: ImportCheckpointsResult, request: Request): string {
  const { plan, applied, declined, added, known } = result
  if (declined) return 'Nothing has been imported.'
  const isDryRun = request.options.has('dry-run')
  const there =
    known === 0 ? '' : ` ${formatNumber(known)} ${known === 1 ? 'was' : 'were'} already there.`
  if (isDryRun) {
    const text = plan.sources.map((source) => sourceText(source, request.screen.paint))
    return [...text, 'A dry run: nothing has been imported.'].join('\n')
  }
  if (!applied) return `Nothing to import.${there}`
  return `Imported ${formatCount(added, 'checkpoint')}.${there}`
}

/** Undefined if there are none. */
export function problemsText(problems: readonly ImportProblem[], paint: Paint): string | undefined {
  if (problems.length === 0) return undefined
  return [
    `${paint('bold', 'Not imported')} (${formatNumber(problems.length)}):`,
    ...problems.map(
      ({ source, message }) =>
        `  ${paint('yellow', printableLine(source))}: ${printableLine(message)}`,
    ),
  ].join('\n')
}

function sourceText(source: ImportSource, paint: Paint): string {
  const { kind, project, session, add, known, oldest, newest } = source
  const what = project === null ? `session ${printableLine(session ?? '')}` : displayPath(project)
  const range = oldest === null || newest === null ? '' : `, ${rangeText(oldest, newest)}`
  const there = known === 0 ? '' : `, ${formatNumber(known)} already there`
  const counts = `${formatCount(add, 'checkpoint')} to add${there}${range}`
  return `${paint('bold', what)}: ${counts}\n  ${paint('dim', `${KINDS[kind] ?? kind}, ${printableLine(source.source)}`)}`
}

function rangeText(oldest: string, newest: string): string {
  return oldest === newest ? localTime(oldest) : `${localTime(oldest)} to ${localTime(newest)}`
}
