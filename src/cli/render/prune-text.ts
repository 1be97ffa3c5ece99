// The plan and the result of a prune as text: what is removed, what is kept, and why.
import type { PruneResult } from '../../index.js'
import { folderText } from './checkpoint-table.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { printable, printableLine } from '../terminal/escape.js'
import type { Screen } from '../terminal/screen.js'

type Plan = PruneResult['plan']
type ProjectPlan = Plan['projects'][number]
type Points = Plan['unattached']
type Why = Points['drop'][number]['why']

const GOES: Readonly<Record<Why, string>> = {
  orphan: 'the folder is gone',
  prompts: 'thinned to one per prompt',
  days: 'thinned to one per day',
  age: 'too old',
  count: 'over the number to keep',
  size: 'to come under the size limit',
}
const STAYS: Readonly<Record<keyof Points['keep'], string>> = {
  recent: 'within the limits',
  pinned: 'pinned',
  named: 'named',
  session: 'of a session in progress',
  thread: 'of a graph thread',
}

export function prunePlanText({ plan, above }: PruneResult, { paint }: Screen): string {
  const touched = plan.projects.filter(({ drop, state }) => drop.length > 0 || state !== 'live')
  const unchanged = plan.projects.length - touched.length
  const { unattached } = plan
  return [
    ...touched.flatMap((project) => projectLines(project, paint)),
    ...(unchanged === 0 ? [] : [`${formatCount(unchanged, 'project')} with nothing to remove`]),
    ...(unattached.drop.length === 0
      ? []
      : ['Sessions without a project', ...pointLines(unattached, paint)]),
    ...plan.sessions.map(
      ({ id, why }) => `Session ${printableLine(id)} will be removed: ${GOES[why]}`,
    ),
    `The store uses ${formatBytes(plan.sizeBytes)} and would use about ${formatBytes(plan.afterBytes)} of ${formatBytes(plan.capBytes)}.`,
    ...aboveLines(above, 'It would stay'),
  ].join('\n')
}

export function pruneResultText(result: PruneResult): string {
  const { plan, errors, sizeBytes, bytesReclaimed } = result
  const undone = plan.projects.filter(({ forgetsUndo }) => forgetsUndo)
  return [
    `${removedText(result)} The store uses ${formatBytes(sizeBytes)} of ${formatBytes(plan.capBytes)}${bytesReclaimed > 0 ? ` (freed ${formatBytes(bytesReclaimed)})` : ''}.`,
    ...undone.map(({ path }) => `The last rewind of ${folderText(path)} can no longer be undone.`),
    ...errors.map(({ what, message }) => `Not pruned: ${printable(what)}: ${printable(message)}`),
    ...aboveLines(result.above, 'It is'),
  ].join('\n')
}

function removedText(result: PruneResult): string {
  const { deletedCheckpoints, deletedSessions, deletedOrphan, deletedStale, prunedFiles } = result
  const projects = deletedOrphan + deletedStale
  const parts = [
    ...(deletedCheckpoints === 0 ? [] : [formatCount(deletedCheckpoints, 'checkpoint')]),
    ...(prunedFiles === 0 ? [] : [`the files of ${formatCount(prunedFiles, 'checkpoint')}`]),
    ...(deletedSessions === 0 ? [] : [formatCount(deletedSessions, 'session')]),
    ...(projects === 0 ? [] : [formatCount(projects, 'project')]),
  ]
  return parts.length === 0 ? 'Nothing had to be removed.' : `Removed ${parts.join(', ')}.`
}

function aboveLines(above: PruneResult['above'], start: string): string[] {
  if (above === null) return []
  return [
    `${start} ${formatBytes(above.byBytes)} over the limit.`,
    `Always kept: ${above.because.join(', ')}.`,
    ...(above.projects.length === 0
      ? []
      : [
          'Removing more would not free enough, or would take from projects within their fair share, so nothing is removed for its size.',
          `The largest are ${largestText(above.projects)}.`,
          'Raise the limit:   savestate config set maxSizeMb N',
          'Remove a project:  savestate -C DIR clear',
        ]),
  ]
}

export function largestText(largest: NonNullable<PruneResult['above']>['projects']): string {
  return largest
    .map(({ path, bytes: size, stateBytes }) => {
      const states = stateBytes > size / 2 ? ', mostly conversations' : ''
      return `${folderText(path)} (${formatBytes(size)}${states})`
    })
    .join(', ')
}

function projectLines(project: ProjectPlan, paint: Screen['paint']): string[] {
  const { path, unreachable, drop, freesBytes, forgetsUndo } = project
  const note = unreachable === null ? '' : ' cannot be reached'
  const frees = drop.length === 0 ? '' : `, frees ${formatBytes(freesBytes)}`
  return [
    `${folderText(path)}${note}${frees}`,
    ...(unreachable === null ? [] : [`  not treated as removed: ${unreachable}`]),
    ...pointLines(project, paint),
    ...(forgetsUndo ? ['  The last rewind can no longer be undone.'] : []),
  ]
}

function pointLines({ drop, keep }: Points, paint: Screen['paint']): string[] {
  const whole = drop.filter(({ keepsState }) => keepsState !== true)
  const files = drop.length - whole.length
  return [
    ...countsOf(whole.map(({ why }) => GOES[why])).map(
      ([why, count]) =>
        `  ${paint('red', `${formatCount(count, 'checkpoint')} to remove`)}: ${why}`,
    ),
    ...(files === 0
      ? []
      : [
          `  ${paint('red', `${formatCount(files, 'checkpoint')} ${files === 1 ? 'loses its' : 'lose their'} files`)} and ${files === 1 ? 'keeps its' : 'keep their'} state: ${GOES.size}`,
        ]),
    ...Object.entries(keep).map(
      ([why, count]) =>
        `  ${formatCount(count, 'checkpoint')} to keep: ${STAYS[why as keyof Points['keep']]}`,
    ),
  ]
}

function countsOf(texts: readonly string[]): [string, number][] {
  const counts = new Map<string, number>()
  for (const text of texts) counts.set(text, (counts.get(text) ?? 0) + 1)
  return [...counts]
}
