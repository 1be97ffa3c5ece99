/**
 * A second session from step 3,000 of the first: how long it takes with fsync, and how much larger the
 * store is afterwards. In a copy of the store, so that the other rows find it unchanged.
 */
import { cpSync } from 'node:fs'
import { shared } from '../bench.js'
import { inNewChild } from '../child-process.js'
import { conversationOf, digestOf } from '../states/conversation.js'
import { median, flushDisk } from '../measure.js'
import { atMost, KILOBYTE, type Row } from '../row.js'
import { LENGTH } from '../states/state-race.js'
import { sizeOnDisk } from '../trees/tree.js'
import { appended } from './state-append.js'

const MAX_MS = 2
const MAX_KILOBYTES = 10
const FORKS = 50

const forked = shared(async (bench): Promise<{ readonly ms: number; readonly bytes: number }> => {
  const { home } = await appended(bench)
  const copy = bench.scratch.path('forked')
  cpSync(home, copy, { recursive: true })
  await flushDisk()
  const before = sizeOnDisk(copy)
  bench.log(`${FORKS} forks at step ${LENGTH}`)
  const { times, digest } = await inNewChild({ kind: 'fork-state', home: copy, forks: FORKS })
  if (digest !== digestOf(conversationOf(LENGTH))) throw new Error('A fork has another state')
  return { ms: median(times), bytes: (sizeOnDisk(copy) - before) / FORKS }
})

export const forkTime: Row = {
  name: `state-fork-${LENGTH}`,
  async measure(bench) {
    const { ms } = await forked(bench)
    return atMost(MAX_MS, { ours: ms, unit: 'ms', detail: `with fsync; median of ${FORKS}` })
  },
}

export const forkDisk: Row = {
  name: `state-fork-${LENGTH}-disk`,
  async measure(bench) {
    const { bytes } = await forked(bench)
    const ours = bytes / KILOBYTE
    return atMost(MAX_KILOBYTES, { ours, unit: 'KB', detail: `each; mean of ${FORKS}` })
  },
}
