// Clears a store, also a damaged one that cannot be opened. Not in damaged-store.ts: only the program loads this file, not the SDK.
import * as engine from '../../engine/index.js'
import { explained } from '../opening/open-calls.js'
import { homeOf, type StoreOptions } from '../opening/open-context.js'
import { refuseUnknown } from '../opening/validate-options.js'

/** Removes everything that a store holds, but not its settings. Throws STORE_BUSY while another process uses it. */
export async function clearStore(
  options: Pick<StoreOptions, 'home'> = {},
): Promise<{ readonly bytesReclaimed: number }> {
  refuseUnknown('clearStore', options, { home: true })
  return explained(async () => engine.clearStore(engine.openHome(homeOf(options))))
}
