// The default retention policy: history thins out with age. Pure: the plan is shown before anything is removed (I7).
// Every checkpoint for a while; then one per prompt, the last of each day, and every checkpoint that a user named or an
// undo needs; then the last of each day; then nothing. If that one has only a state, one with files stays too.
import type { CheckpointId } from '../ids.js'

export type Tiers = {
  readonly keepAllMs: number
  readonly keepPromptsMs: number
  readonly keepDailyMs: number
}

export type TierRow = {
  readonly id: CheckpointId
  readonly createdAtMs: number
  /** Age counts from here: later than its creation if it was imported, or saved by a clock that was behind. */
  readonly agedFromMs: number
  /** One checkpoint of each group stays. Null: the checkpoint belongs to no group, and stays. */
  readonly group: string | null
  /** The row that is kept for its group. Without one it is the oldest of a prompt, else the newest. */
  readonly isPrompt: boolean
  /** Named, or needed by an undo or redo: it stays beside the one of its group. */
  readonly isSpecial: boolean
  /** Pinned, for example: it stays at any age. */
  readonly isGuarded: boolean
  /** False: it has only a state, so it cannot represent the files of its group or day. */
  readonly hasFiles: boolean
  /** Set for the newest checkpoint of a project and the head of a session: when that was last used. */
  readonly usedAtMs: number | null
}

/** Why a checkpoint is removed: only one per prompt is left, only one per day, or it is too old. */
export type ThinReason = 'prompts' | 'days' | 'age'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Selects the checkpoints to remove; `rows` are those of one project, newest first. */
export function thinByAge(
  rows: readonly TierRow[],
  tiers: Tiers,
  nowMs: number,
): { readonly id: CheckpointId; readonly why: ThinReason }[] {
  const withFiles = rows.filter(({ hasFiles }) => hasFiles)
  const perGroup = new Set([...onePerGroup(rows), ...onePerGroup(withFiles)])
  const perDay = new Set([...newestPerDay(rows), ...newestPerDay(withFiles)])
  const staysWithPrompts = (row: TierRow) =>
    row.group === null || row.isSpecial || perGroup.has(row) || perDay.has(row)
  const { keepAllMs, keepPromptsMs, keepDailyMs } = tiers
  const reasonToDrop = (row: TierRow): ThinReason | undefined => {
    const ageMs = nowMs - row.agedFromMs
    if (row.isGuarded || ageMs <= keepAllMs) return undefined
    if (row.usedAtMs !== null && nowMs - row.usedAtMs <= longestOf(tiers)) return undefined
    if (ageMs <= keepPromptsMs) return staysWithPrompts(row) ? undefined : 'prompts'
    if (ageMs <= keepDailyMs) return perDay.has(row) ? undefined : 'days'
    return 'age'
  }
  return rows.flatMap((row) => {
    const why = reasonToDrop(row)
    return why === undefined ? [] : [{ id: row.id, why }]
  })
}

/** After this nothing is kept. */
export function longestOf({ keepAllMs, keepPromptsMs, keepDailyMs }: Tiers): number {
  return Math.max(keepAllMs, keepPromptsMs, keepDailyMs)
}

/** The hour a checkpoint was made in, as the name of a group. */
export function hourGroup(createdAtMs: number): string {
  return `hour ${Math.floor(createdAtMs / HOUR_MS)}`
}

function onePerGroup(rows: readonly TierRow[]): Iterable<TierRow> {
  const chosen = new Map<string, TierRow>()
  for (const row of rows) {
    if (row.group === null) continue
    const known = chosen.get(row.group)
    // From the newest to the oldest: a later match in this loop is an older checkpoint.
    const isBetter = known === undefined || (isOfPrompt(row) && (row.isPrompt || !known.isPrompt))
    if (isBetter) chosen.set(row.group, row)
  }
  return chosen.values()
}

function isOfPrompt({ group }: TierRow): boolean {
  return group?.startsWith('prompt ') === true
}

/** The prompt that a checkpoint belongs to, as the name of a group. */
export function promptGroup(session: number, turn: number): string {
  return `prompt ${session} ${turn}`
}

function newestPerDay(rows: readonly TierRow[]): Iterable<TierRow> {
  const chosen = new Map<number, TierRow>()
  for (const row of rows) {
    const day = Math.floor(row.createdAtMs / DAY_MS)
    if (!chosen.has(day)) chosen.set(day, row)
  }
  return chosen.values()
}
