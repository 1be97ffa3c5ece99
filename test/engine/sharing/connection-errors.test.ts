// A connection that fails in ways that no list of errors has, a server that hangs longer than one attempt, and a role without its rights.
import pg from 'pg'
import { expect, test } from 'vitest'
import type { SavestateError } from '../../../src/index.js'
import { type PostgresClient, schemaSql } from '../../../src/remote/index.js'
import { machine } from '../../support/sharing/two-machines.js'
import { startProxy } from '../../support/remote/tcp-proxy.js'
import { sharedPlace } from '../../support/sharing/fleet.js'

const place = sharedPlace()

async function failureOf(call: Promise<unknown>): Promise<SavestateError> {
  const [result] = await Promise.allSettled([call])
  if (result.status === 'fulfilled') throw new Error('it did not fail')
  return result.reason as SavestateError
}

/** In seconds. */
const expiryOf = async (id: string) => {
  const [row] = await place().database.sql(
    `SELECT extract(epoch FROM v.expires_at)::float8 AS at FROM savestate.live AS v
      JOIN savestate.logs AS l ON l.key = v.log WHERE l.id = $1`,
    [id],
  )
  return Number(row?.['at'])
}

test('a client of the caller that fails ends no process, and its calls are NOT_SHARED', async () => {
  await using a = await place().host()
  const pool = new pg.Pool({ connectionString: place().url })
  let isDown = false
  let onBeat = (): void => undefined
  const client: PostgresClient = {
    query: async (query) => {
      if (!isDown) return pool.query<Record<string, unknown>>(query)
      if (query.text.includes('unnest($1::text[], $2::text[], $3::bigint[])')) onBeat()
      throw new TypeError('fetch failed')
    },
  }
  const store = await a.open({ remote: { url: place().url, client } })
  const session = await store.session('http')
  await session.save({ state: { items: [0] } })
  const beat = new Promise<void>((resolve) => {
    onBeat = resolve
  })
  isDown = true
  expect(await failureOf(session.append('items', [1]))).toMatchObject({
    code: 'NOT_SHARED',
    message: expect.stringContaining('fetch failed') as unknown,
    cause: { code: 'REMOTE_UNREACHABLE' },
  })
  await beat
  isDown = false
  await session.append('items', [2])
  await store.close()
  await pool.end()
  await using b = await place().host()
  expect((await (await b.openShared()).resume('http')).state).toEqual({ items: [0, 1, 2] })
})

test('a server that hangs for longer than one attempt delays a call, and the heartbeat continues', async () => {
  await using a = await place().host()
  const { hostname, port } = new URL(place().url)
  await using proxy = await startProxy({ host: hostname, port: Number(port) })
  const store = await a.open({ remote: place().database.urlWith({ port: proxy.port }) })
  const session = await store.session('hanging')
  await session.save({ state: { items: [0] } })
  const known = proxy.connections
  proxy.stall()
  const appended = session.append('items', [1])
  // The first attempt has ended, and another one waits.
  await expect.poll(() => proxy.connections).toBeGreaterThan(known)
  proxy.resume()
  await appended
  const { roundTrips, connections } = proxy
  proxy.stall()
  await expect.poll(() => proxy.roundTrips).toBeGreaterThan(roundTrips)
  // A heartbeat has failed; nothing else is under way. The next one renews the lease.
  await expect.poll(() => proxy.connections).toBeGreaterThan(connections)
  const before = await expiryOf('hanging')
  proxy.resume()
  await expect.poll(() => expiryOf('hanging')).toBeGreaterThan(before)
  await session.append('items', [2])
  expect(await session.stateAt()).toEqual({ items: [0, 1, 2] })
  await store.close()
})

test('a role that loses its rights: an open session saves here, and push and new sessions are refused', async () => {
  await using a = await place().host()
  const { database } = place()
  const role = await database.createRole('password')
  const grant = () => database.sql(schemaSql({ role }))
  await grant()
  const url = database.urlWith({ user: role, password: 'password' })
  const store = await a.open({ remote: url })
  const session = await store.session('revoked')
  await session.save({ state: { items: [0] } })
  using laptop = machine(url)
  laptop.saveStep('on a laptop', 'one')
  await database.sql(`DROP OWNED BY ${role}`)

  expect(await failureOf(session.append('items', [1]))).toMatchObject({
    code: 'NOT_SHARED',
    message: expect.stringContaining('permission denied') as unknown,
    cause: { code: 'REMOTE_REFUSED', hint: expect.stringContaining('administrator') as unknown },
  })
  expect(await session.stateAt()).toEqual({ items: [0, 1] })
  expect(await failureOf(store.session('other'))).toMatchObject({ code: 'REMOTE_REFUSED' })
  const pushed = laptop.run(['push', '--json'])
  expect(JSON.parse(pushed.stderr)).toMatchObject({ error: { code: 'REMOTE_REFUSED' } })

  await grant()
  await session.append('items', [2])
  laptop.ok('push')
  await store.close()
  const other = await a.openShared()
  expect((await other.resume('revoked')).state).toEqual({ items: [0, 1, 2] })
  expect((await other.resume('on a laptop')).state).toEqual({
    messages: [{ role: 'user', content: 'one' }],
  })
  await other.close()
  await database.sql(`DROP OWNED BY ${role}`)
})
