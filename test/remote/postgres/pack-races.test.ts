// Races between writers, uploads and the collector of packs, each in both orders. A second connection plays one of the two, and holds its
// locks until the call under test waits for them.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type CommitPack, openRemote, type Remote } from '../../../src/remote/index.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import { headOf, readPacks, session, startWriter, textsOf } from '../../support/remote/writer.js'

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
  await database.waitForLocks(1)
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
  await database.waitForLocks(1)
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
  await database.waitForLocks(1)
  await locker.query('COMMIT')
  expect(await uploading).toBe('missing-pack')
})

test('a collector that waits for an upload keeps its parent', async () => {
  await addUnusedPack('parent 4')
  await locker.query('BEGIN')
  await locker.query(
    `INSERT INTO savestate.packs (id, parent, tree, upload, is_complete) VALUES ('child 4', 'parent 4', 't', 'u', false)`,
  )
  const collecting = other.collectPacks()
  await database.waitForLocks(1)
  await locker.query('COMMIT')
  expect(await collecting).toEqual({ removed: 0, bytes: 0 })
  expect((await readPacks(other, 'parent 4')).map(({ id }) => id)).toEqual(['parent 4'])
  await database.sql(`DELETE FROM savestate.packs WHERE id = 'child 4'`)
  expect((await other.collectPacks()).removed).toBe(1)
})

/** Runs an upload and a collector in an order, each waiting for the row of an upload that was killed two days ago. */
async function besideOldUpload(id: string, order: readonly ('upload' | 'collect')[]) {
  await database.sql(
    `INSERT INTO savestate.packs (id, tree, upload, is_complete, created_at)
      VALUES ($1, 't', 'killed', false, clock_timestamp() - interval '2 days')`,
    [id],
  )
  const { bytes = Buffer.alloc(0), ...entry } = pack(id, null)
  let finish = (): void => undefined
  const collected = new Promise<void>((resolve) => {
    finish = resolve
  })
  // Complete packs go at once: the upload is not complete before the collector has ended.
  async function* slowly() {
    await collected
    yield bytes
  }
  const calls = {
    upload: () => writerRemote.putPack(entry, slowly()),
    collect: () => other.collectPacks().finally(finish),
  }
  await locker.query('BEGIN')
  await locker.query('SELECT 1 FROM savestate.packs WHERE id = $1 FOR UPDATE', [id])
  const running: Promise<unknown>[] = []
  for (const call of order) {
    running.push(calls[call]())
    await database.waitForLocks(running.length)
  }
  await locker.query('COMMIT')
  const results = await Promise.all(running)
  const writer = await startWriter(writerRemote, session(`user of ${id}`))
  await writer.commit('one', { checkpoints: [{ id: 'c', step: 1, pack: id }] })
  expect((await readPacks(other, id)).map(({ length }) => length)).toEqual([bytes.length])
  return results
}

test('an old upload that is begun again first is not collected', async () => {
  const results = await besideOldUpload('old 1', ['upload', 'collect'])
  expect(results).toEqual(['done', { removed: 0, bytes: 0 }])
})

test('an old upload that is collected first is begun again', async () => {
  const results = await besideOldUpload('old 2', ['collect', 'upload'])
  expect(results).toEqual([{ removed: 1, bytes: 0 }, 'done'])
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

/** A pack that was uploaded, and that no checkpoint refers to yet. */
async function upload(id: string) {
  const { bytes = Buffer.alloc(0), ...facts } = pack(id, null)
  expect(await writerRemote.putPack(facts, [bytes])).toBe('done')
}

test('a writer that is first keeps the pack that it has uploaded', async () => {
  await upload('uploaded 1')
  const writer = await startWriter(writerRemote, session('user of uploaded 1'))
  await locker.query('BEGIN')
  await locker.query(
    `INSERT INTO savestate.checkpoints SELECT key, 'c1', 1, 'uploaded 1' FROM savestate.logs WHERE id = $1`,
    [writer.log.id],
  )
  const collecting = other.collectPacks()
  await database.waitForLocks(1)
  await locker.query('COMMIT')
  expect(await collecting).toEqual({ removed: 0, bytes: 0 })
  expect((await readPacks(other, 'uploaded 1')).map(({ id }) => id)).toEqual(['uploaded 1'])
})

test('a writer that is second learns that the pack that it has uploaded is gone', async () => {
  await upload('uploaded 2')
  const writer = await startWriter(writerRemote, session('user of uploaded 2'))
  await locker.query('BEGIN')
  await locker.query(`DELETE FROM savestate.packs WHERE id = 'uploaded 2'`)
  const checkpoints = [{ id: 'c2', step: 2, pack: 'uploaded 2' }]
  const sending = writer.send(writer.prepare('two', { checkpoints }))
  await database.waitForLocks(1)
  await locker.query('COMMIT')
  expect(await sending).toEqual({ kind: 'missing-pack' })
  expect(await textsOf(other, writer.log)).toEqual([])
  await upload('uploaded 2')
  await writer.commit('two', { checkpoints })
  expect(await textsOf(other, writer.log)).toEqual(['two'])
})

test('of two collectors the first one removes the packs, and the second one finds them gone', async () => {
  await writerRemote.collectPacks()
  for (const id of ['k1', 'k2', 'k3']) await addUnusedPack(id)
  await locker.query('BEGIN')
  await locker.query('SELECT 1 FROM savestate.packs FOR UPDATE')
  const first = writerRemote.collectPacks()
  await database.waitForLocks(1)
  const second = other.collectPacks()
  await database.waitForLocks(2)
  await locker.query('COMMIT')
  expect((await first).removed).toBe(3)
  expect(await second).toEqual({ removed: 0, bytes: 0 })
})
