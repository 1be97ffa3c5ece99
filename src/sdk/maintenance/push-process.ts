// The push that the daemon makes by itself: see auto-push.ts.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lowerPriority } from '../../system/index.js'
import { openStore } from '../store.js'

const [home] = process.argv.slice(2)
if (home === undefined) throw new Error('The home of the store is missing')
lowerPriority()
// Opening a store that was removed in the meantime would create it again.
if (existsSync(join(home, 'ledger.db'))) void pushStore(home)

async function pushStore(path: string): Promise<void> {
  // Without keys, as the daemon.
  const given = { inProcess: true, shortLived: true, encryption: {}, remote: false } as const
  const store = await openStore({ home: path, ...given })
  try {
    await store.remotes.autoPush()
  } finally {
    await store.close()
  }
}
