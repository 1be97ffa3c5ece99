// The prune that the store does by itself: see auto-prune.ts.
import { lowerPriority } from '../system/index.js'
import { openStore } from './store.js'

const [home] = process.argv.slice(2)
if (home === undefined) throw new Error('The home of the store is missing')
lowerPriority()
void openStore({ home, mayBlock: true }).then(async (store) => {
  try {
    await store.prune({ unattended: true })
  } finally {
    await store.close()
  }
})
