// Races that PostgreSQL decides, each in both orders. A second connection holds a lock until the call under test waits for it.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemote, type CommitPack, type Remote } from '../../../src/remote/index.js'
import type { SegmentContent } from '../../../src/model/index.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import {
  content,
  headOf,
  holder,
  LEASE_MS,
  positionOf,
  readPacks,
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

/** Until so many connections of Savestate wait for a lock. */
async function waiting(count: number): Promise<void> {
  await expect
    .poll(async () => {
      const [row] = await database.sql(
        `SELECT count(*)::int AS count FROM pg_stat_activity
          WHERE datname = $1 AND application_name = 'savestate' AND wait_event_type = 'Lock'`,
        [database.name],
      )
      return row?.['count']
    })
    .toBe(count)
}

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
  await waiting(1)
  const two = second()
  await waiting(2)
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
  expect(result).toMatchObject({ kind: 'conflict', head: { fence: 1, epoch: 1, nextN: 5 } })
  expect(await textsOf(other, log)).toEqual(['oneon,twotw,three'])
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
    () => other.take({ log, holder: holder('b'), leaseMs: LEASE_MS, ifFence: 1 }),
  )
  expect(taken).toMatchObject({ taken: false, head: { isDeleted: true, holder: null } })
})

test('a commit that waits for a take-over writes nothing', async () => {
  const log = session('fenced while waiting')
  const writer = await startWriter(writerRemote, log)
  const next = writer.prepare('one')
  const [taken, result] = await inOrder(
    log.id,
    () => other.take({ log, holder: holder('b'), leaseMs: LEASE_MS, ifFence: 1 }),
    () => writer.send(next),
  )
  expect(taken.taken).toBe(true)
  expect(result).toMatchObject({ kind: 'conflict', head: { fence: 2, nextN: 1 } })
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

const pack = (id: string, parent: string | null): CommitPack => ({
  id,
  parent,
  tree: 'a'.repeat(40),
  project: null,
  bytes: Buffer.from(id),
})

/** A pack that no checkpoint needs any more. */
async function addUnusedPack(id: string) {
  const writer = await startWriter(writerRemote, session(`user of ${id}`))
  const checkpoints = [{ id: `c of ${id}`, step: 1, pack: id }]
  await writer.commit('one', { packs: [pack(id, null)], checkpoints })
  await writer.commit('two', { removed: [`c of ${id}`] })
  return writer
}

test('a writer that is first keeps the parent of its pack', async () => {
  const writer = await addUnusedPack('parent 1')
  await locker.query('BEGIN')
  await locker.query(
    `INSERT INTO savestate.packs (id, parent, tree, is_complete) VALUES ('child 1', 'parent 1', 't', true)`,
  )
  const log = await locker.query(`SELECT key FROM savestate.logs WHERE id = 'user of parent 1'`)
  await locker.query(`INSERT INTO savestate.checkpoints VALUES ($1, 'c of child', 2, 'child 1')`, [
    (log.rows[0] as { key: string }).key,
  ])
  const collecting = other.collectPacks()
  await waiting(1)
  await locker.query('COMMIT')
  expect(await collecting).toEqual({ removed: 0, bytes: 0 })
  expect((await headOf(other, writer.log)).nextN).toBe(3)
  await database.sql(`DELETE FROM savestate.checkpoints WHERE pack = 'child 1'`)
  expect((await other.collectPacks()).removed).toBe(2)
})

test('a writer that is second learns that the parent of its pack is gone', async () => {
  const writer = await addUnusedPack('parent 2')
  await locker.query('BEGIN')
  await locker.query(`DELETE FROM savestate.packs WHERE id = 'parent 2'`)
  const next = writer.prepare('three', {
    packs: [pack('child 2', 'parent 2')],
    checkpoints: [{ id: 'c3', step: 3, pack: 'child 2' }],
  })
  const sending = writer.send(next)
  await waiting(1)
  await locker.query('COMMIT')
  expect(await sending).toEqual({ kind: 'missing-pack' })
  expect(await textsOf(other, writer.log)).toEqual(['one', 'two'])
  await writer.commit('three', {
    packs: [pack('child 2', null)],
    checkpoints: [{ id: 'c3', step: 3, pack: 'child 2' }],
  })
  expect((await readPacks(other, 'child 2')).map(({ parent }) => parent)).toEqual([null])
})

test('an upload whose parent is collected meanwhile is not begun', async () => {
  await addUnusedPack('parent 3')
  await locker.query('BEGIN')
  await locker.query(`DELETE FROM savestate.packs WHERE id = 'parent 3'`)
  const uploading = writerRemote.putPack(pack('child 3', 'parent 3'), [Buffer.alloc(10)])
  await waiting(1)
  await locker.query('COMMIT')
  expect(await uploading).toBe('missing-pack')
})

test('an older upload of the same pack cannot add chunks to a newer one', async () => {
  const upload = { id: 'twice', parent: null, tree: 'b'.repeat(40), project: null }
  const [old, next] = [Buffer.alloc(3 << 20, 1), Buffer.alloc((2 << 20) + 5, 2)]
  let resume = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    resume = resolve
  })
  let isHalf = false
  async function* slowly() {
    yield old.subarray(0, 2 << 20)
    isHalf = true
    await gate
    yield old.subarray(2 << 20)
  }
  const slow = writerRemote.putPack(upload, slowly())
  await expect.poll(() => isHalf).toBe(true)
  expect(await other.putPack(upload, [next])).toBe('done')
  resume()
  expect(await slow).toBe('done')
  const writer = await startWriter(writerRemote, session('user of twice'))
  await writer.commit('one', { checkpoints: [{ id: 'ct', step: 1, pack: 'twice' }] })
  expect((await readPacks(other, 'twice')).map(({ length }) => length)).toEqual([next.length])
})

test('two collectors at once remove each pack once', async () => {
  await writerRemote.collectPacks()
  for (const id of ['k1', 'k2', 'k3']) await addUnusedPack(id)
  const results = await Promise.all([writerRemote.collectPacks(), other.collectPacks()])
  expect(results.map(({ removed }) => removed).sort()).toEqual([0, 3])
})

test('a position that was read before a compaction stays in order', async () => {
  const log = session('reader beside compaction')
  const writer = await startWriter(writerRemote, log)
  for (const word of words) await writer.commit(word)
  const before = positionOf(await headOf(other, log))
  const reading = other.segments(log, { n: 0, hash: null, epoch: 0 })[Symbol.asyncIterator]()
  const first = await reading.next()
  expect(first.value).toMatchObject({ n: 1 })
  expect(await writerRemote.compact(log, joined)).toBe(true)
  const rest: number[] = []
  for (let it = await reading.next(); it.done !== true; it = await reading.next())
    rest.push(it.value.n)
  // The page that was read before, then the base.
  expect(rest).toEqual([2, 3, 4])
  expect((await headOf(other, log)).epoch).toBe(before.epoch + 1)
})
