// The plan of a prune, project by project: what goes, what stays and why.
import type { PruneResult } from '../index.js'
import { folderText } from './checkpoint-table.js'
import { bytes, counted } from './figures.js'
import { printableLine } from './printable.js'
import type { Screen } from './screen.js'

type Plan = PruneResult['plan']
type ProjectPlan = Plan['projects'][number]

const GOES: Readonly<Record<ProjectPlan['drop'][number]['why'], string>> = {
  orphan: 'the folder is gone',
  age: 'untouched for too long',
  count: 'over the number to keep',
  size: 'to come under the size limit',
}
const STAYS: Readonly<Record<keyof ProjectPlan['keep'], string>> = {
  recent: 'within the limits',
  pinned: 'pinned',
  named: 'named',
  session: 'of an unfinished session',
  thread: 'of a graph thread',
}

export function prunePlanText({ plan, above }: PruneResult, { paint }: Screen): string {
  const touched = plan.projects.filter(({ drop, state }) => drop.length > 0 || state !== 'live')
  const quiet = plan.projects.length - touched.length
  return [
    ...touched.flatMap((project) => projectLines(project, paint)),
    ...(quiet === 0 ? [] : [`${counted(quiet, 'project')} within the limits`]),
    ...plan.sessions.map(
      ({ id, why }) => `Session ${printableLine(id)} goes: ${why === 'age' ? GOES.age : GOES.size}`,
    ),
    `The store takes ${bytes(plan.sizeBytes)} and would take about ${bytes(plan.afterBytes)} of ${bytes(plan.capBytes)}.`,
    ...(above === null
      ? []
      : [`It would stay over the limit, because of ${above.because.join(', ')}.`]),
  ].join('\n')
}

function projectLines(
  { path, unreachable, drop, keep, freesBytes }: ProjectPlan,
  paint: Screen['paint'],
): string[] {
  const note = unreachable === null ? '' : ' cannot be reached'
  const frees = drop.length === 0 ? '' : `, frees ${bytes(freesBytes)}`
  return [
    `${folderText(path)}${note}${frees}`,
    ...(unreachable === null ? [] : [`  not taken for removed: ${unreachable}`]),
    ...countsOf(drop.map(({ why }) => GOES[why])).map(
      ([why, count]) =>
        `  ${paint('red', `${counted(count, 'checkpoint')} ${count === 1 ? 'goes' : 'go'}`)}: ${why}`,
    ),
    ...Object.entries(keep).map(
      ([why, count]) =>
        `  ${counted(count, 'checkpoint')} ${count === 1 ? 'stays' : 'stay'}: ${STAYS[why as keyof ProjectPlan['keep']]}`,
    ),
  ]
}

function countsOf(texts: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts]
}
