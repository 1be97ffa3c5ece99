// The prune that the store does by itself: see auto-prune.ts.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { lowerPriority } from '../../system/index.js'
import { openStore } from '../store.js'

const [home] = process.argv.slice(2)
if (home === undefined) throw new Error('The home of the store is missing')
lowerPriority()
// Opening a store that was removed in the meantime would create it again.
if (existsSync(join(home, 'ledger.db'))) void pruneStore(home)

async function pruneStore(path: string): Promise<void> {
  const store = await openStore({ home: path, inProcess: true, shortLived: true, remote: false })
  try {
    await store.prune({ unattended: true })
  } finally {
    await store.close()
  }
}
