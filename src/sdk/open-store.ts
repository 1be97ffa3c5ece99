// Opens a store.
import { explainSystemError } from '../model/index.js'
import { openContext, type StoreOptions } from './opening/open-context.js'
import { Store } from './store.js'

/** Opens the store, and creates it if there is none. Throws STORE_NEWER, STORE_UNUSABLE, STORE_DAMAGED. */
export async function openStore(options: StoreOptions = {}): Promise<Store> {
  try {
    return Store.make(await openContext(options), {
      isShort: options.shortLived ?? false,
      // The process that prunes would use the real time.
      prunesItself: options.clock === undefined,
    })
  } catch (error) {
    throw explainSystemError(error)
  }
}
