// Removes all data of the store. No checkpoint can bring it back, so callers ask the user first.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { explainSystemError, SavestateError } from '../../model/index.js'
import { diskUsage, SharedLock } from '../../system/index.js'
import { storeLockPath } from '../operation/context.js'

export type LegacyArchive = { readonly path: string; readonly sizeBytes: number }

/** The launcher of agents' hooks, the user's settings, the format file, and locks that other processes may be waiting for. */
const KEPT: ReadonlySet<string> = new Set(['bin', 'config.json', 'format', 'locks', 'remotes.json'])
/** Removed first: without the ledger everything else is garbage. */
const LEDGER = ['ledger.db.backup', 'ledger.db', 'ledger.db-wal', 'ledger.db-shm']

/** The archives of older stores in the store's folder. */
export async function legacyArchives(home: string): Promise<LegacyArchive[]> {
  const names = readdirSync(home).filter((name) => name.startsWith('legacy-'))
  return Promise.all(
    names.sort().map(async (name) => {
      const path = join(home, name)
      return { path, sizeBytes: await diskUsage(path) }
    }),
  )
}

/** Removes the archives of older stores. Works beside a damaged ledger. */
export async function clearLegacy(
  home: string,
): Promise<{ readonly removed: readonly LegacyArchive[] }> {
  try {
    const removed = await legacyArchives(home)
    for (const { path } of removed) rmSync(path, { recursive: true, force: true })
    return { removed }
  } catch (error) {
    throw explainSystemError(error)
  }
}

/** Works on a closed or damaged store. Throws STORE_BUSY, and removes nothing, if another process has the store open. */
export async function clearStore(home: string): Promise<{ readonly bytesReclaimed: number }> {
  const before = await diskUsage(home)
  // An idle process that has the store open counts too: it would continue to write to a removed ledger.
  const cleared = new SharedLock(storeLockPath(home)).alone(() => {
    for (const name of [...LEDGER, ...readdirSync(home)])
      if (!KEPT.has(name)) rmSync(join(home, name), { recursive: true, force: true })
  })
  if (cleared === undefined) {
    throw new SavestateError(
      'STORE_BUSY',
      'Another process is using the store; nothing was removed',
      {
        hint: 'Wait until it is done, then run the command again.',
      },
    )
  }
  return { bytesReclaimed: Math.max(0, before - (await diskUsage(home))) }
}
