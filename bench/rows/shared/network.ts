/** The bytes that a shared append sends, and its round trips, through a proxy that counts and delays. */
import { type Bench, shared } from '../../bench.js'
import { startProxy } from '../../../test/support/remote/tcp-proxy.js'
import { median } from '../../measure.js'
import { atMost, KILOBYTE, type Row } from '../../row.js'
import { remoteDatabase } from './server.js'
import { startChild } from '../../child-process.js'
import { SESSION } from '../../states/state-child.js'
import { LENGTH } from '../../states/state-race.js'

const MAX_KILOBYTES = 4
const ROUND_TRIP_MS = 20
const MAX_ROUND_TRIPS = 1.3
const MEASURED = 30

type Network = { readonly bytesPerAppend: number; readonly delayedMs: number }

const network = shared(async (bench: Bench): Promise<Network> => {
  const database = await remoteDatabase(bench)
  const { hostname, port } = new URL(database.url)
  const proxy = await startProxy({ host: hostname, port: Number(port) })
  const child = startChild()
  try {
    const place = {
      folder: bench.scratch.folder('shared-network'),
      session: SESSION,
      remote: database.urlWith({ port: proxy.port }),
    }
    bench.log('append through a proxy')
    await child.ask({ kind: 'begin-writing', writer: 'append', place, after: 0 })
    await child.ask({ kind: 'leap', steps: LENGTH })
    await child.ask({ kind: 'steps', steps: 5 })
    const before = proxy.sentBytes
    await child.ask({ kind: 'steps', steps: MEASURED })
    const bytesPerAppend = (proxy.sentBytes - before) / MEASURED
    proxy.delay(ROUND_TRIP_MS)
    const delayedMs = median(await child.ask({ kind: 'steps', steps: MEASURED }))
    proxy.delay(0)
    await child.ask({ kind: 'end-writing' })
    return { bytesPerAppend, delayedMs }
  } finally {
    await child.end()
    await proxy.dispose()
  }
})

export const sharedBytes: Row = {
  name: `shared-bytes-${LENGTH}`,
  async measure(bench) {
    const { bytesPerAppend } = await network(bench)
    return atMost(MAX_KILOBYTES, {
      ours: bytesPerAppend / KILOBYTE,
      unit: 'KB',
      detail: 'sent for each append of 1 KB',
    })
  },
}

export const sharedRoundTrip: Row = {
  name: `shared-rtt-${ROUND_TRIP_MS}`,
  async measure(bench) {
    const { delayedMs } = await network(bench)
    return {
      ours: delayedMs,
      peer: ROUND_TRIP_MS,
      limit: MAX_ROUND_TRIPS,
      unit: 'ms',
      detail: 'append through a proxy, against one round trip; p50',
    }
  },
}
