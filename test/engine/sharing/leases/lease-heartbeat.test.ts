// A heartbeat while the session takes its lease again: the remote has another fence than the one that it renews.
import pg from 'pg'
import { expect, test } from 'vitest'
import type { PostgresClient } from '../../../../src/remote/index.js'
import { HEARTBEAT_MS } from '../../../../src/model/index.js'
import { sharedPlace } from '../../../support/sharing/fleet.js'

const place = sharedPlace()

test('a heartbeat between a retake and its answer does not end the session', async () => {
  await using a = await place().host()
  const pool = new pg.Pool({ connectionString: place().url })
  let isLost = false
  let onBeat = (): void => undefined
  const beat = new Promise<void>((resolve) => {
    onBeat = resolve
  })
  const client: PostgresClient = {
    query: async (query) => {
      const answer = await pool.query<Record<string, unknown>>(query)
      if (isLost && query.text.includes('AS o (kind, id, fence)')) onBeat()
      const isRetaken = query.text.includes('AS v SET fence =') && answer.rows.length > 0
      if (isLost && isRetaken) await beat
      return answer
    },
  }
  let laterMs = 0
  const clock = {
    nowMs: () => Date.now() + laterMs,
    random: (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes)),
  }
  const store = await a.open({ remote: { url: place().url, client }, clock })
  const session = await store.session<{ items: number[] }>('beaten')
  await session.save({ state: { items: [0] } })
  // A failover has lost the take of this process, and nothing else.
  await place().database.sql('UPDATE savestate.live SET fence = fence - 1')
  isLost = true
  laterMs = HEARTBEAT_MS
  await session.append('items', [1])
  isLost = false
  await session.append('items', [2])
  await store.close()
  await pool.end()
  await using b = await place().host()
  expect((await (await b.openShared()).resume('beaten')).state).toEqual({ items: [0, 1, 2] })
})
