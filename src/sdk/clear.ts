// What can be done with a store that need not be opened, and may be damaged.
import * as engine from '../engine/index.js'
import { homeOf, type StoreOptions } from './open-context.js'
import { explained } from './session.js'

/** Archives of older stores in the store's folder. */
export async function legacyArchives(
  options: Pick<StoreOptions, 'home'> = {},
): Promise<readonly engine.LegacyArchive[]> {
  return explained(async () => engine.legacyArchives(engine.openHome(homeOf(options))))
}

/** Removes them, also beside a ledger that is damaged. */
export async function clearLegacy(
  options: Pick<StoreOptions, 'home'> = {},
): Promise<{ readonly removed: readonly engine.LegacyArchive[] }> {
  return explained(async () => engine.clearLegacy(engine.openHome(homeOf(options))))
}

/** Removes everything that a store holds, but not its settings. Throws STORE_BUSY while somebody uses it. */
export async function clearStore(
  options: Pick<StoreOptions, 'home'> = {},
): Promise<{ readonly bytesReclaimed: number }> {
  return explained(async () => engine.clearStore(engine.openHome(homeOf(options))))
}
