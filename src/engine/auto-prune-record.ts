// Records what automatic prunes removed until a user has seen it: no user saw their plans.
import type { DropReason } from '../model/index.js'
import type { StoreContext } from './context.js'
import type { PruneResult } from './prune-result.js'

export type AutoPruneRecord = {
  /** The time of the last automatic prune. */
  readonly at: string
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

/** Adds to a record that was not shown yet. A prune that removed nothing leaves it as it is. */
export function recordAutoPrune(context: StoreContext, result: PruneResult): void {
  const { deletedCheckpoints, deletedSessions, prunedFiles } = result
  if (!result.applied || deletedCheckpoints + deletedSessions + prunedFiles === 0) return
  const { ledger, clock } = context
  ledger.transaction(() => {
    const known = readAutoPrune(context)
    const before = known?.isShown === false ? known : NOTHING
    const byReason = { ...before.byReason }
    for (const [why, count] of Object.entries(result.deletedByReason) as [DropReason, number][])
      byReason[why] = (byReason[why] ?? 0) + count
    const forgotten = result.plan.projects.flatMap((it) => (it.forgetsUndo ? it.path : []))
    const record: AutoPruneRecord = {
      at: new Date(clock.nowMs()).toISOString(),
      checkpoints: before.checkpoints + deletedCheckpoints,
      byReason,
      sessions: before.sessions + deletedSessions,
      prunedFiles: before.prunedFiles + prunedFiles,
      bytesReclaimed: before.bytesReclaimed + result.bytesReclaimed,
      forgottenUndo: [...new Set([...before.forgottenUndo, ...forgotten])],
      isShown: false,
    }
    ledger.record.set('auto_prune', JSON.stringify(record))
  })
}

const NOTHING = {
  checkpoints: 0,
  byReason: {} as Readonly<Partial<Record<DropReason, number>>>,
  sessions: 0,
  prunedFiles: 0,
  bytesReclaimed: 0,
  forgottenUndo: [] as readonly string[],
}

/** The record of the last automatic prune that removed something; null if there was none. */
export function readAutoPrune({ ledger }: StoreContext): AutoPruneRecord | null {
  const text = ledger.record.json('auto_prune')
  return text === undefined ? null : (JSON.parse(text) as AutoPruneRecord)
}

/** Another prune may have added to it since it was read: then that is still to be shown. */
export function markAutoPruneShown(context: StoreContext, { at }: AutoPruneRecord): void {
  const { ledger } = context
  ledger.transaction(() => {
    const known = readAutoPrune(context)
    if (known?.at === at)
      ledger.record.set('auto_prune', JSON.stringify({ ...known, isShown: true }))
  })
}
