// Automatic prunes: when one is due, and the record of what it removed. A save starts it in another process, at most once per
// interval. No user sees its plan, so the record is kept until a user has seen it.
import {
  type Config,
  type DropReason,
  type ErrorCode,
  isError,
  type PruneOptions,
  SavestateError,
} from '../../model/index.js'
import { isBusy } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { prune } from '../operation/lazy-operations.js'
import { recordFailure } from '../operation/failures.js'
import { perform } from '../operation/operation.js'
import type { PruneResult } from './prune-result.js'
import { storeSettings } from '../store/settings.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Records failures for `status`, and what the prune removed for `list` and `status`. */
export async function pruneUnattended(
  context: StoreContext,
  request: { readonly input: PruneOptions; readonly callbacks?: Callbacks | undefined },
): Promise<PruneResult> {
  try {
    const result = await perform(prune, context, request)
    for (const { what, code, message } of result.errors)
      recordPruneFailure(context, code, `${what}: ${message}`)
    recordAutoPrune(context, result)
    return result
  } catch (error) {
    const code = error instanceof SavestateError ? error.code : 'INTERNAL'
    recordPruneFailure(context, code, isError(error) ? error.message : String(error))
    throw error
  }
}

export function recordPruneNotStarted(context: StoreContext): void {
  recordPruneFailure(context, 'INTERNAL', 'the process that prunes could not be started')
}

function recordPruneFailure({ ledger, clock }: StoreContext, code: string, message: string): void {
  ledger.failures.add({ atMs: clock.nowMs(), operation: 'prune', project: null, code, message })
}

/** True at most once per interval, for all processes together: the caller then starts a prune. */
export function claimPrune(context: StoreContext): boolean {
  try {
    return claim(context)
  } catch (error) {
    // No user asked for this prune, so nothing is reported; the next check is soon enough.
    if (isBusy(error) || hasErrorCode(error, 'DISK_FULL', 'STORE_NEWER', 'STORE_UNUSABLE'))
      return false
    if (!hasErrorCode(error, 'CONFIG_INVALID')) throw error
    // No caller waits for this, so it is recorded although it is the user's error.
    recordFailure(context, { operation: 'prune', project: null, error })
    return false
  }
}

function claim({ home, ledger, clock }: StoreContext): boolean {
  if (ledger.checkpoints.added === 0) return false
  const { config } = storeSettings(home)
  if (!config.autoPrune) return false
  const nowMs = clock.nowMs()
  const intervalMs = config.autoPruneHours * HOUR_MS
  return ledger.transaction(() => {
    const claimed = ledger.record.time('prune_claimed_at')
    // In a new store the interval starts now.
    const last = claimed ?? nowMs
    // After the clock was set back, the recorded time may be in the future.
    const isDue = nowMs - last >= intervalMs || last > nowMs
    if (isDue || claimed === undefined) ledger.record.set('prune_claimed_at', nowMs)
    return isDue && nowMs - last < Math.max(maxPauseMs(config), 2 * intervalMs)
  })
}

/**
 * After a jump of the clock every checkpoint seems old, and after a long absence the user may return to their work. If the last
 * prune is longer ago than this, one more interval passes first.
 */
function maxPauseMs({ retention, keepAllHours, retentionDays }: Config): number {
  return retention === 'hermes' ? Math.max(1, retentionDays) * DAY_MS : keepAllHours * HOUR_MS
}

function hasErrorCode(error: unknown, ...codes: readonly ErrorCode[]): error is SavestateError {
  return error instanceof SavestateError && codes.includes(error.code)
}

export type AutoPruneRecord = {
  /** The time of the last automatic prune. */
  readonly at: Date
  readonly checkpoints: number
  readonly byReason: Readonly<Partial<Record<DropReason, number>>>
  readonly sessions: number
  /** Checkpoints that lost their files and kept their state. */
  readonly prunedFiles: number
  readonly bytesReclaimed: number
  /** Projects whose last rewind can no longer be undone. */
  readonly forgottenUndo: readonly string[]
  /** Whether `list` or `status` has shown it on a terminal. */
  readonly isShown: boolean
}

/** Adds to a record that was not shown yet. A prune that removed nothing does not change the record. */
function recordAutoPrune(context: StoreContext, result: PruneResult): void {
  const { deletedCheckpoints, deletedSessions, prunedFiles } = result
  if (!result.applied || deletedCheckpoints + deletedSessions + prunedFiles === 0) return
  const { ledger, clock } = context
  ledger.transaction(() => {
    const known = readAutoPrune(context)
    const before = known?.isShown === false ? known : undefined
    const byReason = { ...before?.byReason }
    for (const [why, count] of Object.entries(result.deletedByReason) as [DropReason, number][])
      byReason[why] = (byReason[why] ?? 0) + count
    const forgotten = result.plan.projects.flatMap((it) => (it.forgetsUndo ? it.path : []))
    const record: AutoPruneRecord = {
      at: new Date(clock.nowMs()),
      checkpoints: (before?.checkpoints ?? 0) + deletedCheckpoints,
      byReason,
      sessions: (before?.sessions ?? 0) + deletedSessions,
      prunedFiles: (before?.prunedFiles ?? 0) + prunedFiles,
      bytesReclaimed: (before?.bytesReclaimed ?? 0) + result.bytesReclaimed,
      forgottenUndo: [...new Set([...(before?.forgottenUndo ?? []), ...forgotten])],
      isShown: false,
    }
    ledger.record.set('auto_prune', JSON.stringify(record))
  })
}

/** The record of the last automatic prune that removed something; null if there was none. */
export function readAutoPrune({ ledger }: StoreContext): AutoPruneRecord | null {
  const text = ledger.record.json('auto_prune')
  if (text === undefined) return null
  const record = JSON.parse(text) as AutoPruneRecord
  return { ...record, at: new Date(record.at) }
}

/** Does nothing if another prune has added to the record since it was read: that has not been shown. */
export function markAutoPruneShown(context: StoreContext, { at }: AutoPruneRecord): void {
  const { ledger } = context
  ledger.transaction(() => {
    const known = readAutoPrune(context)
    if (known?.at.getTime() === at.getTime())
      ledger.record.set('auto_prune', JSON.stringify({ ...known, isShown: true }))
  })
}
