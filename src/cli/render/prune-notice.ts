// Reports once what automatic prunes removed, because no user saw their plans.
import type { AutoPruneRecord } from '../../internal.js'
import type { Request } from '../runtime/command.js'
import { formatBytes, formatCount } from '../terminal/format-numbers.js'
import { folderText } from './checkpoint-table.js'
import { relativeTime } from '../terminal/relative-time.js'

/** Undefined if there is nothing to show. A notice on a terminal is shown once. */
export async function pruneNotice({ store, screen }: Request): Promise<string | undefined> {
  const { maintenance } = await store()
  const record = await maintenance.autoPruned()
  if (record === undefined) return undefined
  if (screen.isTerminal) await maintenance.markAutoPruneShown(record)
  return screen.paintNote('yellow', noticeText(record, screen.now))
}

const MORE_SPACE = 'maxSizeMb N'

/** A reason, its text, and the setting that would have kept the checkpoints. */
const REASONS: readonly (readonly [
  keyof AutoPruneRecord['byReason'],
  (count: string) => string,
  string,
])[] = [
  ['prompts', (count) => `${count} thinned to one per prompt`, 'keepAllHours N'],
  ['days', (count) => `${count} thinned to one per day`, 'keepPromptsDays N'],
  [
    'age',
    (count) => `${count} removed for their age`,
    'keepDailyDays N (retentionDays N if retention is hermes)',
  ],
  ['count', (count) => `${count} removed because there were too many`, 'maxCheckpoints N'],
  ['size', (count) => `${count} removed to make the store smaller`, MORE_SPACE],
]

export function noticeText(record: AutoPruneRecord, now: Date): string {
  const { byReason, sessions, prunedFiles, bytesReclaimed, forgottenUndo } = record
  const found = REASONS.filter(([why]) => (byReason[why] ?? 0) > 0)
  const parts = found.map(([why, text]) => text(formatCount(byReason[why] ?? 0, 'checkpoint')))
  if (prunedFiles > 0) parts.push(`the files of ${formatCount(prunedFiles, 'checkpoint')} removed`)
  if (sessions > 0) parts.push(`${formatCount(sessions, 'session')} removed`)
  const settings = new Set(found.map(([, , setting]) => setting))
  if (prunedFiles > 0) settings.add(MORE_SPACE)
  return [
    `Pruned ${relativeTime(record.at, now)}: ${parts.join(', ')} (freed ${formatBytes(bytesReclaimed)}).`,
    ...forgottenUndo.map(
      (path) => `The last rewind of ${folderText(path)} can no longer be undone.`,
    ),
    ...[...settings].map((setting) => `To keep more: savestate config set ${setting}`),
  ].join('\n')
}
