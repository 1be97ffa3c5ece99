// When the store prunes itself: after a save, in a process of its own, at most once per interval.
import { type Config, type ErrorCode, isError, SavestateError } from '../model/index.js'
import { isBusy } from '../system/index.js'
import type { StoreContext } from './context.js'
import type { Hooks } from './hooks.js'
import { recordFailure } from './failures.js'
import { prune } from './later.js'
import { recordAutoPrune } from './auto-prune-record.js'
import { perform } from './operation.js'
import type { PruneResult } from './prune-result.js'
import type { PruneInput } from './prune-input.js'
import { storeSettings } from './settings.js'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** A prune that no one watches. Failures are recorded for `status`, and what it removed for `list` and `status`. */
export async function pruneUnattended(
  context: StoreContext,
  request: { readonly input: PruneInput; readonly hooks?: Hooks | undefined },
): Promise<PruneResult> {
  try {
    const result = await perform(prune, context, request)
    for (const { what, code, message } of result.errors) note(context, code, `${what}: ${message}`)
    recordAutoPrune(context, result)
    return result
  } catch (error) {
    const code = error instanceof SavestateError ? error.code : 'INTERNAL'
    note(context, code, isError(error) ? error.message : String(error))
    throw error
  }
}

/** For what kept the process from starting at all. */
export function notePruneNotStarted(context: StoreContext): void {
  note(context, 'INTERNAL', 'the process that prunes could not be started')
}

function note({ ledger, clock }: StoreContext, code: string, message: string): void {
  ledger.failures.add({ atMs: clock.nowMs(), operation: 'prune', project: null, code, message })
}

/** True at most once in that time, for all processes together: who gets it has to start a prune. */
export function claimPrune(context: StoreContext): boolean {
  try {
    return claim(context)
  } catch (error) {
    // Nobody has asked for this, and a timer has nobody to tell: the next look will be soon enough.
    if (isBusy(error) || isFault(error, 'DISK_FULL', 'STORE_NEWER', 'STORE_UNUSABLE')) return false
    if (!isFault(error, 'CONFIG_INVALID')) throw error
    // No caller waits for this, so it is recorded though it is an error of the user's.
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
    // In a new store the time begins now.
    const last = claimed ?? nowMs
    // A clock that was set back must not stop it for ever.
    const isDue = nowMs - last >= intervalMs || last > nowMs
    if (isDue || claimed === undefined) ledger.record.set('prune_claimed_at', nowMs)
    return isDue && nowMs - last < Math.max(patienceMsOf(config), 2 * intervalMs)
  })
}

/**
 * After a leap of the clock everything looks old, and after a long absence the user may come back to what is there: if
 * the last prune is longer ago than every checkpoint is kept, one more interval passes first.
 */
function patienceMsOf({ retention, keepAllHours, retentionDays }: Config): number {
  return retention === 'hermes' ? Math.max(1, retentionDays) * DAY_MS : keepAllHours * HOUR_MS
}

function isFault(error: unknown, ...codes: readonly ErrorCode[]): error is SavestateError {
  return error instanceof SavestateError && codes.includes(error.code)
}
