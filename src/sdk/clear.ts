// What can be done with a store that need not be opened, and may be damaged.
import * as engine from '../engine/index.js'
import { refuseUnknown } from './known-options.js'
import { homeOf, type StoreOptions } from './open-context.js'
import { explained } from './explained.js'

type Place = Pick<StoreOptions, 'home'>

/** Archives of older stores in the store's folder. */
export async function legacyArchives(
  options: Place = {},
): Promise<readonly engine.LegacyArchive[]> {
  return explained(async () => engine.legacyArchives(placeOf('legacyArchives', options)))
}

/** Removes them, also beside a ledger that is damaged. */
export async function clearLegacy(
  options: Place = {},
): Promise<{ readonly removed: readonly engine.LegacyArchive[] }> {
  return explained(async () => engine.clearLegacy(placeOf('clearLegacy', options)))
}

/** Removes everything that a store holds, but not its settings. Throws STORE_BUSY while somebody uses it. */
export async function clearStore(
  options: Place = {},
): Promise<{ readonly bytesReclaimed: number }> {
  return explained(async () => engine.clearStore(placeOf('clearStore', options)))
}

function placeOf(call: string, options: Place): string {
  refuseUnknown(call, options, { home: true })
  return engine.openHome(homeOf(options))
}
