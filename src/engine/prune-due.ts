// When the store prunes itself: after a save, in a process of its own, at most once in the time that is set.
import type { StoreContext } from './context.js'
import { storeSettings } from './settings.js'

const HOUR_MS = 3_600_000

/** True at most once in that time, for all processes together: who gets it has to start a prune. */
export function claimPrune({ home, ledger, clock }: StoreContext): boolean {
  if (ledger.checkpoints.added === 0) return false
  const { autoPrune, autoPruneHours } = storeSettings(home).config
  if (!autoPrune) return false
  const nowMs = clock.nowMs()
  return ledger.transaction(() => {
    const last = Number(ledger.care.fact('prune-claimed-at') ?? Number.NaN)
    // A clock that was set back must not stop it for ever.
    const isDue = nowMs - last >= autoPruneHours * HOUR_MS || last > nowMs
    if (isDue || Number.isNaN(last)) ledger.care.setFact('prune-claimed-at', String(nowMs))
    return isDue
  })
}
