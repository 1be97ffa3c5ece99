// A bad network between a host and its remote (test/support/remote/tcp-proxy.ts), and a server that stops, loses commits or is full.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openStore, type Session, type Store } from '../../../src/index.js'
import { openRemote, type Remote } from '../../../src/remote/index.js'
import {
  createDatabase,
  type PostgresServer,
  startServer,
  type TestDatabase,
} from '../../support/postgres/index.js'
import { startProxy, type TcpProxy } from '../../support/remote/tcp-proxy.js'
import { type Scratch, scratch } from '../../support/scratch.js'

type State = { items: number[] }

let server: PostgresServer
let database: TestDatabase
let proxy: TcpProxy
let a: Scratch
let b: Scratch
let remote: Remote
let store: Store
let session: Session<State>

beforeAll(async () => {
  server = await startServer()
})
afterAll(() => server.dispose())
beforeEach(async () => {
  database = await createDatabase(server.url)
  remote = await openRemote({ url: database.url })
  await remote.init()
  proxy = await startProxy(server)
  a = await scratch()
  b = await scratch()
  store = await a.open({ remote: { url: database.urlWith({ port: proxy.port }) } })
  session = await store.session<State>('task')
  await session.save({ state: { items: [0] } })
})
afterEach(async () => {
  proxy.resume()
  await a.dispose()
  await b.dispose()
  await remote.close()
  await proxy.dispose()
  await database.dispose()
})

/** The state as another host resumes it. */
async function stateElsewhere(): Promise<State | undefined> {
  await session.close()
  const other = await b.open({ remote: database.url })
  const { state } = await other.resume<State>('task')
  await other.close()
  return state
}

const position = async () => (await remote.head({ kind: 'session', id: 'task' }))?.nextN ?? 0

describe('the network', () => {
  test('a cut connection is opened again, and the call succeeds', async () => {
    proxy.cut()
    const saved = session.append('items', [1])
    proxy.resume()
    await saved
    expect(await stateElsewhere()).toEqual({ items: [0, 1] })
  })

  test('a half-open connection does not hold a call for ever', async () => {
    proxy.halfOpen()
    await session.append('items', [1])
    expect(await stateElsewhere()).toEqual({ items: [0, 1] })
  })

  // In one outage: each call waits for ten seconds.
  test('without a network calls are NOT_SHARED after some seconds, no tool runs, and no outcome is lost', async () => {
    const call = { id: 'call', name: 'effect' }
    const runs = { before: 0, during: 0 }
    const before = await store.session('cut before the tool')
    const during = await store.session('cut during the tool')
    const runBefore = () => (runs.before += 1)
    const runDuring = () => {
      proxy.cut()
      return (runs.during += 1)
    }
    const outcome = during.tool(call, runDuring)
    await expect.poll(() => runs.during).toBe(1)
    const calls = [outcome, session.append('items', [1]), before.tool(call, runBefore)]
    const notShared: unknown = expect.objectContaining({ code: 'NOT_SHARED' })
    expect(await Promise.allSettled(calls)).toEqual(
      calls.map(() => ({ status: 'rejected', reason: notShared })),
    )
    expect(runs).toEqual({ before: 0, during: 1 })
    expect(await session.stateAt()).toEqual({ items: [0, 1] })
    proxy.resume()
    expect(await during.tool(call, runDuring)).toBe(1)
    expect(await before.tool(call, runBefore)).toBe(1)
    expect(runs).toEqual({ before: 1, during: 1 })
    await session.append('items', [2])
    expect(await stateElsewhere()).toEqual({ items: [0, 1, 2] })
  })

  test('an answer that was lost after the commit stores nothing twice', async () => {
    const before = await position()
    const dropped = proxy.dropAnswer()
    await session.append('items', [1])
    await dropped
    expect(await position()).toBe(before + 1)
    expect(await stateElsewhere()).toEqual({ items: [0, 1] })
  })

  test('calls that are made while a segment is under way are shipped together', async () => {
    const before = await position()
    await Promise.all(Array.from({ length: 20 }, (_, n) => session.append('items', [n + 1])))
    expect((await position()) - before).toBe(2)
    expect((await stateElsewhere())?.items).toEqual(Array.from({ length: 21 }, (_, n) => n))
  })

  test('a call takes one round trip, and so does a resume without news', async () => {
    await session.append('items', [1])
    const { roundTrips } = proxy
    await session.append('items', [2])
    expect(proxy.roundTrips - roundTrips).toBe(1)
    await session.close()
    const closed = proxy.roundTrips
    await store.resume('task')
    expect(proxy.roundTrips - closed).toBe(1)
  })
})

describe('the server', () => {
  test('is stopped hard and started again: the call waits for it', async () => {
    await server.stop('immediate')
    const saved = session.append('items', [1])
    await server.start()
    await saved
    expect(await stateElsewhere()).toEqual({ items: [0, 1] })
  })

  test('is full: the call is NOT_SHARED with its words, and the next one succeeds', async () => {
    await database.sql(`CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$`)
    await database.sql(
      `CREATE TRIGGER full_disk BEFORE INSERT ON savestate.segments FOR EACH ROW EXECUTE FUNCTION full_disk()`,
    )
    await expect(session.append('items', [1])).rejects.toMatchObject({
      code: 'NOT_SHARED',
      message: expect.stringContaining('No space left on device') as unknown,
    })
    await database.sql('DROP TRIGGER full_disk ON savestate.segments')
    await session.append('items', [2])
    expect(await stateElsewhere()).toEqual({ items: [0, 1, 2] })
  })

  test('lost its last commits in a failover: the open session sends everything again', async () => {
    await server.stop()
    const goBack = server.keepCopy()
    await server.start()
    for (const n of [1, 2, 3]) await session.append('items', [n])
    await server.stop('immediate')
    goBack()
    await server.start()
    await session.append('items', [4])
    expect(await stateElsewhere()).toEqual({ items: [0, 1, 2, 3, 4] })
  })

  test('lost a whole session in a failover: its next writer brings it back', async () => {
    await server.stop()
    const goBack = server.keepCopy()
    await server.start()
    const late = await store.session<State>('late')
    await late.save({ state: { items: [1] } })
    await late.close()
    await server.stop('immediate')
    goBack()
    await server.start()
    const again = await store.resume<State>('late')
    expect(again.state).toEqual({ items: [1] })
    await again.session.append('items', [2])
    await again.session.close()
    const other = await b.open({ remote: database.url })
    expect((await other.resume('late')).state).toEqual({ items: [1, 2] })
  })

  test('lost commits, and another host continued: what this host has becomes a fork', async () => {
    await session.close()
    await server.stop()
    const goBack = server.keepCopy()
    await server.start()
    const resumed = await store.resume<State>('task')
    await resumed.session.append('items', [1])
    await resumed.session.close()
    await server.stop('immediate')
    goBack()
    await server.start()
    const other = await b.open({ remote: database.url })
    for (const n of [7, 8]) {
      const { session: elsewhere } = await other.resume<State>('task')
      await elsewhere.append('items', [n])
      await elsewhere.close()
    }
    const again = await store.resume<State>('task')
    expect(again.state).toEqual({ items: [0, 7, 8] })
    const fork = (await store.sessions()).find(({ id }) => id.startsWith('task~'))
    expect((await store.resume(String(fork?.id))).state).toEqual({ items: [0, 1] })
  })

  test('has tables of a newer version: the remote is refused, and the store works without it', async () => {
    await session.close()
    await database.sql('UPDATE savestate.format SET version = 99')
    const other = await b.open({ remote: database.url })
    await expect(other.session('x')).rejects.toMatchObject({ code: 'STORE_NEWER' })
    const alone = await openStore({ home: a.home, remote: false })
    expect((await alone.resume('task')).state).toEqual({ items: [0] })
    await alone.close()
  })

  test('refuses a wrong key', async () => {
    const key = '00'.repeat(32)
    const other = await b.open({ remote: { url: database.url, key } })
    await expect(other.session('x')).rejects.toMatchObject({ code: 'KEY_WRONG' })
  })
})
