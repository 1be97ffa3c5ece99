// Data that a teammate or the server changed is refused.
import { createHash, randomBytes } from 'node:crypto'
import { deflateSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openRemote, type Remote } from '../../../src/remote/index.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import { content, readAll, readPacks, session, startWriter } from '../../support/remote/writer.js'

const DAMAGED = { code: 'STORE_DAMAGED' }

let database: TestDatabase
let remote: Remote
let logs = 0

function hashOf(prev: Buffer | null, body: Uint8Array): Buffer {
  return createHash('sha256')
    .update(prev ?? Buffer.alloc(32))
    .update(body)
    .digest()
}

/** A log with three segments. */
async function writeLog() {
  const writer = await startWriter(remote, session(`log ${logs++}`))
  for (const text of ['one', 'two', 'three']) await writer.commit(text)
  return writer.log
}

const LOG = '(SELECT key FROM savestate.logs WHERE id = $1)'

/** Replaces the body of the last segment, with a hash that fits. */
async function replaceLast(id: string, body: Uint8Array): Promise<void> {
  const [row] = await database.sql(
    `SELECT prev FROM savestate.segments WHERE log = ${LOG} AND n = 3`,
    [id],
  )
  await database.sql(
    `UPDATE savestate.segments SET body = $2, hash = $3 WHERE log = ${LOG} AND n = 3`,
    [id, body, hashOf(row?.['prev'] as Buffer, body)],
  )
}

for (const key of [undefined, randomBytes(32)])
  describe(`rows of a ${key === undefined ? 'plain' : 'sealed'} remote`, () => {
    beforeAll(async () => {
      database = await createDatabase()
      remote = await openRemote({ url: database.url, key })
      await remote.init()
    })
    afterAll(async () => {
      await remote.close()
      await database.dispose()
    })

    test('a changed body does not have its hash', async () => {
      const log = await writeLog()
      await database.sql(
        `UPDATE savestate.segments SET body = body || 'x'::bytea WHERE log = ${LOG} AND n = 2`,
        [log.id],
      )
      await expect(readAll(remote, log)).rejects.toMatchObject(DAMAGED)
    })

    test('a missing segment is a gap', async () => {
      const log = await writeLog()
      await database.sql(`DELETE FROM savestate.segments WHERE log = ${LOG} AND n = 2`, [log.id])
      await expect(readAll(remote, log)).rejects.toMatchObject(DAMAGED)
    })

    test('columns with values of another type are refused', async () => {
      const log = await writeLog()
      await database.sql(`UPDATE savestate.live SET next_n = 1::bigint << 60 WHERE log = ${LOG}`, [
        log.id,
      ])
      await expect(remote.head(log)).rejects.toMatchObject(DAMAGED)
      await database.sql(`UPDATE savestate.live SET next_n = 4, card = '"x"' WHERE log = ${LOG}`, [
        log.id,
      ])
      await expect(remote.head(log)).rejects.toMatchObject(DAMAGED)
    })

    test('chunks of a pack that were dropped or exchanged are noticed', async () => {
      const bytes = randomBytes((1 << 20) + 7)
      for (const damage of [
        `DELETE FROM savestate.pack_chunks WHERE pack = $1 AND n = 1`,
        `UPDATE savestate.pack_chunks SET body = body || 'x'::bytea WHERE pack = $1 AND n = 1`,
        `UPDATE savestate.pack_chunks AS c SET body = o.body FROM savestate.pack_chunks AS o
          WHERE c.pack = $1 AND o.pack = $1 AND c.n + o.n = 1`,
        `UPDATE savestate.packs SET is_complete = false WHERE id = $1`,
        `UPDATE savestate.packs SET tree = 'x' WHERE id = $1`,
      ]) {
        const id = `pack ${logs++}`
        await remote.putPack({ id, parent: null, tree: 'a'.repeat(40), project: null }, [bytes])
        expect((await readPacks(remote, id)).length).toBe(1)
        await database.sql(damage, [id])
        await expect(readPacks(remote, id)).rejects.toMatchObject(DAMAGED)
      }
    })

    test('packs that build on each other in a circle end', async () => {
      for (const id of ['circle 1', 'circle 2'])
        await remote.putPack({ id, parent: null, tree: 'a'.repeat(40), project: null }, [bytesOne])
      await database.sql(
        `UPDATE savestate.packs SET parent = CASE id WHEN 'circle 1' THEN 'circle 2' ELSE 'circle 1' END
          WHERE id LIKE 'circle _'`,
      )
      await expect(readPacks(remote, 'circle 1')).rejects.toMatchObject(DAMAGED)
    })
  })

const bytesOne = Buffer.from('1')

const LONG = `convert_to(repeat('x', 1 << 20), 'UTF8')`

describe('a log with a value that is too long', () => {
  beforeAll(async () => {
    database = await createDatabase()
    remote = await openRemote({ url: database.url })
    await remote.init()
  })
  afterAll(async () => {
    await remote.close()
    await database.dispose()
  })

  for (const [column, damage, column2 = column] of [
    ['card', `UPDATE savestate.live SET card = ${LONG} WHERE log = ${LOG}`],
    ['holder', `UPDATE savestate.live SET holder = ${LONG} WHERE log = ${LOG}`],
    ['hash', `UPDATE savestate.live SET hash = ${LONG} WHERE log = ${LOG}`],
    ['next_n', `UPDATE savestate.live SET next_n = 1::bigint << 60 WHERE log = ${LOG}`],
    [
      'project_card',
      `WITH p AS (INSERT INTO savestate.projects VALUES ('long', ${LONG}))
        UPDATE savestate.logs SET project = 'long' WHERE id = $1`,
    ],
  ] as const)
    test(`its ${column} is not fetched, and the other logs are listed`, async () => {
      const [good, bad] = [await writeLog(), await writeLog()]
      await database.sql(damage, [bad.id])
      const damaged: [string, string][] = []
      const heads = await remote.heads({
        onDamaged: ({ log, damage: { code, message } }) =>
          damaged.push([log.id, `${code}: ${message}`]),
      })
      expect(heads.map(({ log }) => log.id)).toContain(good.id)
      expect(damaged).toEqual([
        [
          bad.id,
          `STORE_DAMAGED: The column ${column2} of the remote has a value that Savestate did not write`,
        ],
      ])
      expect((await remote.heads()).length).toBe(heads.length)
      await expect(remote.head(bad)).rejects.toMatchObject(DAMAGED)
      await database.sql('DELETE FROM savestate.logs WHERE id = $1', [bad.id])
    })

  test('its id is cut, and the other logs are listed', async () => {
    const good = await writeLog()
    await database.sql(
      `WITH l AS (INSERT INTO savestate.logs (kind, id) VALUES ('session', repeat('x', 1 << 16)) RETURNING key)
        INSERT INTO savestate.live (log) SELECT key FROM l`,
    )
    const lengths: number[] = []
    const heads = await remote.heads({ onDamaged: ({ log }) => lengths.push(log.id.length) })
    expect(heads.map(({ log }) => log.id)).toContain(good.id)
    expect(lengths).toEqual([2705])
  })

  test('a chain of hashes that are too long is not fetched', async () => {
    const log = await writeLog()
    await database.sql(
      `UPDATE savestate.segments SET prev = ${LONG} WHERE log = ${LOG} AND n = 2`,
      [log.id],
    )
    await expect(readAll(remote, log)).rejects.toMatchObject({
      ...DAMAGED,
      message: expect.stringContaining('The column prev') as unknown,
    })
  })
})

test('a reason that is too long for a list is cut in the card alone', async () => {
  const own = await createDatabase()
  const long = await openRemote({ url: own.url, key: randomBytes(32) })
  await long.init()
  const writer = await startWriter(long, session('long'))
  const commit = writer.prepare('one')
  const texts = { agent: 'a'.repeat(1000), project: null, statusReason: null, ages: null }
  // JSON writes each of these as six characters.
  const card = { ...texts, reason: '\u0001'.repeat(1 << 20), steps: 1 }
  expect(await writer.send({ ...commit, card })).toMatchObject({ kind: 'done' })
  expect((await long.head(writer.log))?.card).toEqual({
    ...texts,
    reason: `${'\u0001'.repeat(999)}…`,
    steps: 1,
  })
  await long.close()
  await own.dispose()
})

describe('bodies', () => {
  beforeAll(async () => {
    database = await createDatabase()
    remote = await openRemote({ url: database.url })
    await remote.init()
  })
  afterAll(async () => {
    await remote.close()
    await database.dispose()
  })

  test('a body that is not compressed, not JSON or not a segment is refused', async () => {
    for (const body of [
      Buffer.from('no zlib'),
      deflateSync('no json'),
      deflateSync('[]'),
      deflateSync('{"version":1}'),
    ]) {
      const log = await writeLog()
      await replaceLast(log.id, body)
      await expect(readAll(remote, log)).rejects.toMatchObject(DAMAGED)
      await expect(remote.compact(log, () => content('base', true))).rejects.toMatchObject(DAMAGED)
    }
  })

  test('a small body with very long content is not unpacked', async () => {
    const log = await writeLog()
    await replaceLast(log.id, deflateSync(Buffer.alloc(129 << 20), { level: 1 }))
    await expect(readAll(remote, log)).rejects.toMatchObject({
      ...DAMAGED,
      message: expect.stringContaining('too large') as unknown,
    })
  })

  test('a body that is too large is not fetched', async () => {
    const log = await writeLog()
    await database.sql(
      `UPDATE savestate.segments SET body = convert_to(repeat('x', 65 << 20), 'UTF8') WHERE log = ${LOG} AND n = 3`,
      [log.id],
    )
    await expect(readAll(remote, log)).rejects.toMatchObject({
      ...DAMAGED,
      message: expect.stringContaining('too large') as unknown,
    })
  })
})

describe('a server with the rows of a sealed remote', () => {
  beforeAll(async () => {
    database = await createDatabase()
    remote = await openRemote({ url: database.url, key: randomBytes(32) })
    await remote.init()
  })
  afterAll(async () => {
    await remote.close()
    await database.dispose()
  })

  test('cannot exchange two logs', async () => {
    const [a, b] = [await writeLog(), await writeLog()]
    await database.sql('UPDATE savestate.logs SET id = $1 WHERE id = $2', ['aside', a.id])
    await database.sql('UPDATE savestate.logs SET id = $1 WHERE id = $2', [a.id, b.id])
    await expect(readAll(remote, a)).rejects.toMatchObject({
      ...DAMAGED,
      message: expect.stringContaining('was not sealed for its place') as unknown,
    })
    await expect(remote.head(a)).rejects.toMatchObject(DAMAGED)
  })

  test('cannot move a segment within its log', async () => {
    const log = await writeLog()
    const rows = await database.sql(
      `SELECT n::int, body FROM savestate.segments WHERE log = ${LOG} ORDER BY n`,
      [log.id],
    )
    await replaceLast(log.id, rows[1]?.['body'] as Buffer)
    await expect(readAll(remote, log)).rejects.toMatchObject(DAMAGED)
  })

  test('cannot exchange two packs, or cut one', async () => {
    const pack = (id: string) => ({ id, parent: null, tree: 'a'.repeat(40), project: null })
    for (const id of ['x', 'y']) await remote.putPack(pack(id), [Buffer.from(`content of ${id}`)])
    await database.sql(
      `UPDATE savestate.pack_chunks SET body = (SELECT body FROM savestate.pack_chunks WHERE pack = 'y') WHERE pack = 'x'`,
    )
    await database.sql(
      `UPDATE savestate.packs SET sha256 = (SELECT sha256 FROM savestate.packs WHERE id = 'y') WHERE id = 'x'`,
    )
    await expect(readPacks(remote, 'x')).rejects.toMatchObject({
      ...DAMAGED,
      message: expect.stringContaining('was not sealed for its place') as unknown,
    })
    const bytes = randomBytes(2 << 20)
    await remote.putPack(pack('z'), [bytes])
    const chunks = await database.sql(
      `SELECT n, body FROM savestate.pack_chunks WHERE pack = 'z' AND n < 2 ORDER BY n`,
    )
    const kept = Buffer.concat(chunks.map(({ body }) => body as Buffer))
    await database.sql(`UPDATE savestate.packs SET bytes = $1, sha256 = $2 WHERE id = 'z'`, [
      kept.length,
      createHash('sha256').update(kept).digest(),
    ])
    await expect(readPacks(remote, 'z')).rejects.toMatchObject(DAMAGED)
  })
})
