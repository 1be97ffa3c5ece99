// Why the store is over its size limit, for `status`: the last prune has found out what must stay.
import type { StoreContext } from './context.js'
import { capBytesOf } from './prune-input.js'
import type { PruneResult } from './prune-result.js'
import type { LargeProject } from './prune-size.js'
import { storeSettings } from './settings.js'

export type AboveLimit = {
  readonly byBytes: number
  /** The largest owners of data that must stay, as the last prune found. Empty: the next prune may bring the store under its limit. */
  readonly largest: readonly LargeProject[]
}

export function recordAbove({ ledger }: StoreContext, { above }: PruneResult): void {
  ledger.record.set('above_limit', JSON.stringify(above?.projects ?? []))
}

/** Null if the store is within its limit. */
export function aboveLimit({ home, ledger }: StoreContext, sizeBytes: number): AboveLimit | null {
  const byBytes = sizeBytes - capBytesOf(storeSettings(home).config, {})
  if (byBytes <= 0) return null
  const largest = JSON.parse(ledger.record.json('above_limit') ?? '[]') as readonly LargeProject[]
  return { byBytes, largest }
}
