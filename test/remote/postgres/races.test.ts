// Races about one log, each in both orders. A second connection holds the lock on its row until both calls wait for it.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type EncodedSegment, openRemote, type Remote } from '../../../src/remote/index.js'
import type { SegmentContent } from '../../../src/model/index.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import {
  content,
  holder,
  LEASE_MS,
  session,
  startWriter,
  textsOf,
  thread,
  startThread,
} from '../../support/remote/writer.js'

let database: TestDatabase
let writerRemote: Remote
let other: Remote
/** Holds the locks. */
let locker: pg.Client

beforeAll(async () => {
  database = await createDatabase()
  writerRemote = await openRemote({ url: database.url })
  await writerRemote.init()
  await writerRemote.id()
  other = await openRemote({ url: database.url })
  await other.id()
  locker = new pg.Client({ connectionString: database.url })
  await locker.connect()
})
afterAll(async () => {
  await locker.end()
  await writerRemote.close()
  await other.close()
  await database.dispose()
})

/** Runs the calls in this order: each waits for the lock on the row of `live` before the next one starts. */
async function inOrder<A, B>(
  id: string,
  first: () => Promise<A>,
  second: () => Promise<B>,
): Promise<[A, B]> {
  await locker.query('BEGIN')
  await locker.query(
    'SELECT 1 FROM savestate.live JOIN savestate.logs ON key = log WHERE id = $1 FOR UPDATE OF live',
    [id],
  )
  const one = first()
  await database.waitForLocks(1)
  const two = second()
  await database.waitForLocks(2)
  await locker.query('COMMIT')
  return Promise.all([one, two])
}

const words = ['one', 'two', 'three'].map((word) => word.repeat(300))
const joined = (contents: readonly SegmentContent[]) =>
  content(
    contents.map((it) => String(JSON.parse(it.elements[0]?.[2] ?? '""')).slice(0, 5)).join(),
    true,
  )

test('a commit that is first is part of the compaction', async () => {
  const log = session('compact second')
  const writer = await startWriter(writerRemote, log)
  for (const word of words) await writer.commit(word)
  const next = writer.prepare('four')
  const [result, isCompact] = await inOrder(
    log.id,
    () => writer.send(next),
    () => other.compact(log, joined),
  )
  expect([result.kind, isCompact]).toEqual(['done', true])
  expect(await textsOf(other, log)).toEqual(['oneon,twotw,three,four'])
})

test('a commit that is second finds another epoch', async () => {
  const log = session('compact first')
  const writer = await startWriter(writerRemote, log)
  for (const word of words) await writer.commit(word)
  const next = writer.prepare('four')
  const [isCompact, result] = await inOrder(
    log.id,
    () => other.compact(log, joined),
    () => writer.send(next),
  )
  expect(isCompact).toBe(true)
  expect(result).toMatchObject({
    kind: 'conflict',
    head: { fence: writer.fence, epoch: 1, nextN: 5 },
  })
  expect(await textsOf(other, log)).toEqual(['oneon,twotw,three'])
})

test('of two compactions the second one finds nothing to do, and an equal base is recognized', async () => {
  for (const [id, second, isCompact] of [
    ['two compactions', () => content('another base', true), false],
    ['two equal compactions', joined, true],
  ] as const) {
    const log = session(id)
    const writer = await startWriter(writerRemote, log)
    for (const word of words) await writer.commit(word)
    const results = await inOrder(
      log.id,
      () => writerRemote.compact(log, joined),
      () => other.compact(log, second),
    )
    expect(results).toEqual([true, isCompact])
    expect(await other.head(log)).toMatchObject({ epoch: 1, nextN: 5, fence: writer.fence })
    expect(await textsOf(other, log)).toEqual(['oneon,twotw,three'])
  }
})

test('a commit that is first is deleted with the log', async () => {
  const log = session('delete second')
  const writer = await startWriter(writerRemote, log)
  await writer.commit('one')
  const next = writer.prepare('two', { checkpoints: [{ id: 'c2', step: 2, pack: null }] })
  const [result, isDeleted] = await inOrder(
    log.id,
    () => writer.send(next),
    () => other.deleteLog(log, writer.fence),
  )
  expect([result.kind, isDeleted]).toEqual(['done', true])
  const left = await database.sql(
    `SELECT key FROM savestate.logs JOIN savestate.segments ON log = key WHERE logs.id = $1
      UNION ALL SELECT key FROM savestate.logs JOIN savestate.checkpoints ON log = key WHERE logs.id = $1`,
    [log.id],
  )
  expect(left).toEqual([])
})

test('a commit that is second finds a deleted log', async () => {
  const log = session('delete first')
  const writer = await startWriter(writerRemote, log)
  await writer.commit('one')
  const next = writer.prepare('two')
  const [isDeleted, result] = await inOrder(
    log.id,
    () => other.deleteLog(log, writer.fence),
    () => writer.send(next),
  )
  expect(isDeleted).toBe(true)
  expect(result).toMatchObject({ kind: 'conflict', head: { isDeleted: true } })
})

test('a taker that waits for a deletion does not take a deleted log', async () => {
  const log = session('take a deleted one')
  const writer = await startWriter(writerRemote, log)
  await writer.commit('one')
  const [, taken] = await inOrder(
    log.id,
    () => writerRemote.deleteLog(log, writer.fence),
    () => other.take({ log, holder: holder('b'), leaseMs: LEASE_MS, ifFence: writer.lease.fence }),
  )
  expect(taken).toMatchObject({ taken: false, head: { isDeleted: true, holder: null } })
})

test('a taker that waits for a deletion may create the log again', async () => {
  const log = session('create a deleted one')
  const writer = await startWriter(writerRemote, log)
  await writer.commit('one')
  const create = { agent: 'claude', project: null }
  const request = { log, holder: holder('b'), leaseMs: LEASE_MS, create }
  const [isDeleted, taken] = await inOrder(
    log.id,
    () => writerRemote.deleteLog(log, writer.fence),
    () => other.take({ ...request, ifFence: writer.lease.fence }),
  )
  expect([isDeleted, taken]).toMatchObject([
    true,
    {
      taken: true,
      head: { isDeleted: false, holder: holder('b'), nextN: 2, epoch: 1, hash: null },
    },
  ])
  expect(await textsOf(other, log)).toEqual([])
})

test('a deletion that waits for a take-over deletes nothing', async () => {
  const log = session('delete a taken one')
  const writer = await startWriter(writerRemote, log)
  await writer.commit('one')
  const [taken, isDeleted] = await inOrder(
    log.id,
    () => other.take({ log, holder: holder('b'), leaseMs: LEASE_MS, ifFence: writer.lease.fence }),
    () => writerRemote.deleteLog(log, writer.fence),
  )
  expect([taken.taken, isDeleted]).toEqual([true, false])
  expect(await other.head(log)).toMatchObject({ isDeleted: false, holder: holder('b'), nextN: 2 })
  expect(await textsOf(other, log)).toEqual(['one'])
})

test('a deletion of a free log that waits for a taker deletes nothing', async () => {
  const log = session('delete a free one')
  const writer = await startWriter(writerRemote, log)
  await writer.commit('one')
  await writerRemote.release(writer.lease)
  const [taken, isDeleted] = await inOrder(
    log.id,
    () => other.take({ log, holder: holder('b'), leaseMs: LEASE_MS }),
    () => writerRemote.deleteLog(log, null),
  )
  expect([taken.taken, isDeleted]).toEqual([true, false])
  expect(await textsOf(other, log)).toEqual(['one'])
})

test('a commit that waits for a take-over writes nothing', async () => {
  const log = session('fenced while waiting')
  const writer = await startWriter(writerRemote, log)
  const next = writer.prepare('one')
  const [taken, result] = await inOrder(
    log.id,
    () => other.take({ log, holder: holder('b'), leaseMs: LEASE_MS, ifFence: writer.lease.fence }),
    () => writer.send(next),
  )
  if (!taken.taken) throw new Error('not taken')
  const { fence } = taken.lease
  expect(result).toMatchObject({ kind: 'conflict', head: { fence, nextN: 1 } })
  expect(await textsOf(other, log)).toEqual([])
})

test('of two writers of a thread the second one writes nothing', async () => {
  const [a, b] = [startThread(writerRemote, 'two writers'), startThread(other, 'two writers')]
  await a.commit('one')
  b.position = a.position
  const [one, two] = [a.prepare('from a'), b.prepare('from b')]
  const results = await inOrder(
    'two writers',
    () => a.send(one),
    () => b.send(two),
  )
  expect(results.map(({ kind }) => kind)).toEqual(['done', 'conflict'])
  expect(await textsOf(other, thread('two writers'))).toEqual(['one', 'from a'])
})

test('of two writers that create a thread the second one writes nothing', async () => {
  const log = thread('created twice')
  const one = startThread(writerRemote, log.id)
  const next = one.prepare('from the second')
  await locker.query('BEGIN')
  await locker.query(
    `WITH l AS (INSERT INTO savestate.logs (kind, id) VALUES ('thread', $1) RETURNING key)
      INSERT INTO savestate.live (log, next_n, hash) SELECT key, 2, $2 FROM l`,
    [log.id, Buffer.alloc(32)],
  )
  const sending = one.send(next)
  await database.waitForLocks(1)
  await locker.query('COMMIT')
  expect(await sending).toMatchObject({ kind: 'conflict', head: { nextN: 2 } })
  expect(await textsOf(other, log)).toEqual([])
})

test('a reader that is between two pages when the log is compacted continues with the base', async () => {
  const log = session('reader beside compaction')
  await startWriter(writerRemote, log)
  // One more than a page; encoded here, because a thousand commits take seconds.
  const segments: EncodedSegment[] = []
  for (let n = 1; n <= 1001; n++) {
    const prev = segments.at(-1)?.hash ?? null
    segments.push(writerRemote.encode(log, { n, prev }, content(`text ${n}`)))
  }
  const bytes = (hash: string | null) => (hash === null ? null : Buffer.from(hash, 'hex'))
  await database.sql(
    `INSERT INTO savestate.segments SELECT key, s.* FROM savestate.logs,
      unnest($2::bigint[], $3::bytea[], $4::bytea[], $5::bytea[]) AS s WHERE id = $1`,
    [
      log.id,
      segments.map(({ n }) => n),
      segments.map(({ prev }) => bytes(prev)),
      segments.map(({ hash }) => bytes(hash)),
      segments.map(({ body }) => body),
    ],
  )
  await database.sql(
    `UPDATE savestate.live SET next_n = 1002, hash = $2 FROM savestate.logs WHERE key = log AND id = $1`,
    [log.id, bytes(segments.at(-1)?.hash ?? null)],
  )
  const reading = other.segments(log, { n: 0, hash: null, epoch: 0 })[Symbol.asyncIterator]()
  expect((await reading.next()).value).toMatchObject({ n: 1 })
  expect(await writerRemote.compact(log, () => content('all', true))).toBe(true)
  const rest: unknown[] = []
  for (let it = await reading.next(); it.done !== true; it = await reading.next())
    rest.push(it.value.n)
  expect(rest).toEqual([...segments.slice(1, 1000).map(({ n }) => n), 1002])
})
