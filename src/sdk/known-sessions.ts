// Which ids of sessions are in use.
import { SavestateError } from '../model/index.js'
import type { Store } from './store.js'

/** `fix-login-fork-1`, or the next number that no session has. */
export async function freeForkId(store: Store, old: string | null): Promise<string> {
  const stem = old === null ? 'fork' : `${old}-fork`
  let n = 1
  while (await isKnownSession(store, `${stem}-${n}`)) n += 1
  return `${stem}-${n}`
}

export async function isKnownSession(store: Store, id: string): Promise<boolean> {
  try {
    await (await store.session(id, { create: false, lease: false })).close()
    return true
  } catch (error) {
    if (error instanceof SavestateError && error.code === 'SESSION_UNKNOWN') return false
    throw error
  }
}
