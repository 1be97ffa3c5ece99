/** A search in 10,000 checkpoints with 50 MB of conversation, each after a new checkpoint that the index does not have yet. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { median, timed } from '../measure.js'
import { atMost, type Row } from '../row.js'
import { openStore } from '../sdk.js'
import { seededRandom } from '../trees/random.js'
import { sourceText } from '../trees/source-text.js'

const CHECKPOINTS = 10_000
const PER_SESSION = 200
const MESSAGE_BYTES = 5000
const WITH_FILES = 10
const MAX_MS = 100
/** Common and rare words, parts of words, a path, and words that are nowhere. */
const QUERIES = [
  'parse token',
  'checkpoint',
  'ledger',
  'file7.txt',
  'step-4711',
  'nowhere',
  'ollectSeg',
]

export const searchTime: Row = {
  name: `search-${CHECKPOINTS}`,
  slow: true,
  async measure({ scratch, log }) {
    log(`a store with ${CHECKPOINTS} checkpoints and 50 MB of conversation`)
    const folder = scratch.folder('search')
    const path = join(folder, 'project')
    mkdirSync(path)
    const random = seededRandom(24)
    const store = await openStore(join(folder, 'home'), { durability: 'process' })
    try {
      const project = await store.project(path)
      for (let made = 0; made < CHECKPOINTS; ) {
        const session = await store.session<{ messages: object[] }>(`s-${made}`, { project })
        for (let n = 0; n < PER_SESSION; n += 1, made += 1) {
          const content = sourceText(random, { number: made, sizeBytes: MESSAGE_BYTES })
          const files = made % WITH_FILES === 0
          if (files) writeFileSync(join(path, `file${made % 70}.txt`), `${made}`)
          const message = { role: n % 2 === 0 ? 'user' : 'assistant', content }
          await session.append('messages', [message], { reason: `step-${made}`, files })
        }
        await session.close()
      }
      log('searches')
      const first = await timed(() => project.search('nowhere'))
      const times: number[] = []
      for (const words of QUERIES) {
        writeFileSync(join(path, 'new.txt'), words)
        await project.save({ reason: words })
        times.push(await timed(() => project.search(words)))
      }
      const detail = `median of ${QUERIES.length} queries, the slowest ${Math.round(Math.max(...times))}; building the index took ${Math.round(first)}`
      return atMost(MAX_MS, { ours: median(times), unit: 'ms', detail })
    } finally {
      await store.close()
    }
  },
}
