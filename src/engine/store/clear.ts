// Removes everything the store holds. No checkpoint can bring it back, so callers ask the user first.
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { SavestateError } from '../../model/index.js'
import { diskUsage, SharedLock } from '../../system/index.js'
import { storeLockPath } from '../operation/context.js'

export type LegacyArchive = { readonly path: string; readonly sizeBytes: number }

/** The user's settings; the mark of a store; locks, which others may be waiting for; the launcher of agents' hooks. */
const KEPT: ReadonlySet<string> = new Set(['bin', 'config.json', 'format', 'locks'])
/** First of all: without the ledger nothing is there any more, and whatever remains is garbage. */
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

/**
 * Works on a store that is closed, and on one whose ledger is damaged. Throws STORE_BUSY if anybody has it open, and
 * then removes nothing.
 */
export async function clearStore(home: string): Promise<{ readonly bytesReclaimed: number }> {
  const before = await diskUsage(home)
  // Also from one that has the store open and does nothing: it would go on writing to a ledger that is gone.
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
