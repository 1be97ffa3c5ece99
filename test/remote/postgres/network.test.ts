// A bad network between Savestate and PostgreSQL, through a proxy.
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openRemote, type Remote } from '../../../src/remote/index.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import { runProgram } from '../../support/remote/program.js'
import { startProxy, type TcpProxy } from '../../support/remote/tcp-proxy.js'
import {
  headOf,
  LEASE_MS,
  readPacks,
  session,
  startThread,
  startWriter,
  textsOf,
  type Writer,
} from '../../support/remote/writer.js'

let database: TestDatabase
let direct: Remote
let proxy: TcpProxy
let remote: Remote
let writer: Writer
let logs = 0

beforeAll(async () => {
  database = await createDatabase()
  direct = await openRemote({ url: database.url })
  await direct.init()
})
afterAll(async () => {
  await direct.close()
  await database.dispose()
})
beforeEach(async () => {
  const { hostname, port } = new URL(database.url)
  proxy = await startProxy({ host: hostname, port: Number(port) })
  remote = await openRemote({ url: database.urlWith({ port: proxy.port }), timeoutMs: 1000 })
  writer = await startWriter(remote, session(`network ${logs++}`))
  await writer.commit('one')
})
afterEach(async () => {
  await remote.close()
  await proxy.dispose()
})

const UNREACHABLE = { code: 'REMOTE_UNREACHABLE' }

test('a commit is one round trip, whatever it brings', async () => {
  const before = proxy.roundTrips
  await writer.commit('two', {
    packs: [
      { id: 'p1', parent: null, tree: '1'.repeat(40), project: null, bytes: Buffer.alloc(9) },
    ],
    checkpoints: [{ id: 'c1', step: 1, pack: 'p1' }],
    removed: ['c0'],
  })
  await writer.commit('base', { isBase: true, checkpoints: [{ id: 'c1', step: 1, pack: 'p1' }] })
  expect(proxy.roundTrips - before).toBe(2)
  await remote.renew([writer.lease], LEASE_MS)
  await remote.release(writer.lease)
  expect(proxy.roundTrips - before).toBe(4)
})

test('no statement is named, and none belongs to a connection', async () => {
  const pack = { id: 'p2', parent: null, tree: '1'.repeat(40), project: null }
  const checkpoints = [{ id: 'c1', step: 1, pack: 'p2' }]
  await writer.commit('two', { packs: [{ ...pack, bytes: Buffer.alloc(9) }], checkpoints })
  await remote.putPack({ ...pack, id: 'p3', parent: 'p2' }, [Buffer.alloc(3 << 20)])
  expect((await readPacks(remote, 'p3')).length).toBe(2)
  await writer.commit('three', {
    checkpoints: [{ id: 'c3', step: 3, pack: 'p3' }],
    removed: ['c1'],
  })
  await writer.commit('base', { isBase: true })
  expect(await textsOf(remote, writer.log)).toEqual(['base'])
  await remote.renew([writer.lease], LEASE_MS)
  await remote.heads()
  await remote.take({
    log: session('created'),
    holder: { owner: OWNER, sinceMs: 1 },
    leaseMs: 1,
    create: { agent: 'a', project: { id: 'p', name: 'project', origin: null } },
  })
  await startThread(remote, 'thread').commit('one')
  await remote.claim({ holder: { owner: OWNER, sinceMs: 1 }, leaseMs: 1 })
  await remote.release(writer.lease)
  await remote.deleteLog(writer.log, null)
  await startWriter(remote, writer.log)
  await remote.collectPacks()
  const { names, texts } = statementsIn(proxy.sent())
  for (const table of ['segments', 'packs', 'pack_chunks', 'checkpoints', 'projects', 'logs'])
    expect(texts.filter((text) => text.includes(`INSERT INTO "savestate".${table} `))).not.toEqual(
      [],
    )
  expect(new Set(names)).toEqual(new Set(['']))
  const words =
    /\b(?:SET [a-z_]+ (?:=|TO)|LISTEN|NOTIFY|TEMP|TEMPORARY|pg_advisory|PREPARE|BEGIN|SAVEPOINT|COMMIT|DECLARE)\b/i
  expect(texts.filter((text) => words.test(text))).toEqual([])
})

test('a cut connection is reported, and opened again when the network is back', async () => {
  proxy.cut()
  const commit = writer.prepare('two')
  await expect(writer.send(commit)).rejects.toMatchObject(UNREACHABLE)
  await expect(remote.head(writer.log)).rejects.toMatchObject(UNREACHABLE)
  proxy.resume()
  expect(await writer.send(commit)).toMatchObject({ kind: 'done' })
  expect(await textsOf(remote, writer.log)).toEqual(['one', 'two'])
})

test('a commit whose answer was lost is recognized when it is sent again', async () => {
  const dropped = proxy.dropAnswer()
  const commit = writer.prepare('two')
  await expect(writer.send(commit)).rejects.toMatchObject(UNREACHABLE)
  await dropped
  expect(await textsOf(direct, writer.log)).toEqual(['one', 'two'])
  expect(await writer.send(commit)).toEqual({
    kind: 'done',
    position: { nextN: 3, epoch: 0, hash: commit.segment.hash },
  })
  await writer.commit('three')
  expect(await textsOf(direct, writer.log)).toEqual(['one', 'two', 'three'])
})

test('a pack whose upload was cut is uploaded again under the same id', async () => {
  const pack = { id: 'cut', parent: null, tree: '2'.repeat(40), project: null }
  const bytes = Buffer.alloc(3 << 20, 7)
  async function* cutAfterTwo() {
    yield bytes.subarray(0, 2 << 20)
    proxy.cut()
    yield bytes.subarray(2 << 20)
  }
  await expect(remote.putPack(pack, cutAfterTwo())).rejects.toMatchObject(UNREACHABLE)
  proxy.resume()
  const [half] = await database.sql(`SELECT is_complete FROM savestate.packs WHERE id = 'cut'`)
  expect(half).toEqual({ is_complete: false })
  // A collection leaves an upload alone that may still run.
  expect(await direct.collectPacks()).toMatchObject({ removed: 0 })
  expect(await remote.putPack(pack, [bytes])).toBe('done')
  await database.sql(
    `UPDATE savestate.packs SET created_at = now() - interval '2 days', is_complete = false WHERE id = 'cut'`,
  )
  expect((await direct.collectPacks()).removed).toBe(1)
})

test('a stalled server fails all callers after the time limit, and a new connection works', async () => {
  proxy.stall()
  const calls = await Promise.allSettled([
    remote.head(writer.log),
    remote.heads(),
    remote.renew([writer.lease], LEASE_MS),
  ])
  expect(calls.map((it) => it.status === 'rejected' && (it.reason as unknown))).toEqual(
    calls.map(
      () =>
        expect.objectContaining({
          code: 'REMOTE_UNREACHABLE',
          message: expect.stringContaining('no answer within 1 second') as unknown,
        }) as unknown,
    ),
  )
  proxy.resume()
  await writer.commit('two')
  expect(await textsOf(direct, writer.log)).toEqual(['one', 'two'])
})

test('a half-open connection is given up after the time limit', async () => {
  proxy.halfOpen()
  const commit = writer.prepare('two')
  await expect(writer.send(commit)).rejects.toMatchObject(UNREACHABLE)
  expect(await writer.send(commit)).toMatchObject({ kind: 'done' })
})

test('calls at the same time use one connection, one after the other', async () => {
  const heads = await Promise.all(Array.from({ length: 20 }, () => remote.head(writer.log)))
  expect(new Set(heads.map((head) => head?.nextN))).toEqual(new Set([2]))
  const [row] = await database.sql(
    `SELECT count(*)::int AS count FROM pg_stat_activity WHERE datname = $1 AND application_name = 'savestate'`,
    [database.name],
  )
  // This client, and the one without a proxy.
  expect(row?.['count']).toBeLessThanOrEqual(2)
})

test('an idle connection does not keep the process alive', async () => {
  const [row] = await database.sql('SELECT count(*)::int AS count FROM savestate.logs')
  expect(await runProgram(database.url)).toEqual({ code: 0, output: `${String(row?.['count'])}\n` })
})

test('a closed remote refuses calls', async () => {
  await remote.close()
  await expect(remote.heads()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

test('sent and received bytes of a commit of 1 KB stay below 4 KB', async () => {
  const text = Array.from({ length: 200 }, (_, i) => (i * 7919) % 99991).join(' ')
  const before = proxy.sentBytes + proxy.receivedBytes
  await writer.commit(text.slice(0, 1024))
  expect(proxy.sentBytes + proxy.receivedBytes - before).toBeLessThan(4096)
  expect((await headOf(direct, writer.log)).nextN).toBe(3)
})

const OWNER = { host: 'h', pid: 1, boot: 'b', startedAt: 's' }

/** Reads the messages of the client: a type, four bytes of length, and for P (Parse) a name and a text. */
function statementsIn(sent: Buffer): { names: string[]; texts: string[] } {
  const names: string[] = []
  const texts: string[] = []
  // The startup message has no type.
  let at = sent.readInt32BE(0)
  while (at < sent.length) {
    const type = String.fromCharCode(sent[at] ?? 0)
    const end = at + 1 + sent.readInt32BE(at + 1)
    const [first = '', second = ''] = sent.toString('utf8', at + 5, end).split('\0')
    if (type === 'P') {
      names.push(first)
      texts.push(second)
    } else if (type === 'Q') texts.push(first)
    at = end
  }
  return { names, texts }
}
