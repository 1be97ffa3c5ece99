// Poolers give each statement another connection: the extreme case of one connection per statement, with a client that the caller hands
// in, and PgBouncer in transaction mode where the machine has it.
import pg from 'pg'
import { expect, test } from 'vitest'
import { openRemote, type PostgresClient } from '../../../src/remote/index.js'
import { createDatabase } from '../../support/postgres/index.js'
import { findPgbouncer, startPgbouncer } from '../../support/postgres/pgbouncer.js'
import { scratch } from '../../support/scratch.js'
import { describeRemote } from '../../support/remote/remote-contract.js'

describeRemote({
  name: 'a connection per statement',
  isFleet: true,
  variants: ['plain'],
  async createPlace() {
    const database = await createDatabase()
    const client: PostgresClient = {
      async query({ text, values }) {
        const own = new pg.Client({ connectionString: database.url })
        await own.connect()
        try {
          return await own.query<Record<string, unknown>>(text, values)
        } finally {
          await own.end()
        }
      },
    }
    return {
      open: (key) => openRemote({ url: database.url, key, client }),
      dispose: () => database.dispose(),
    }
  },
})

/** Empty without PgBouncer: the run says so. */
const pgbouncer = findPgbouncer()
if (pgbouncer.length === 0)
  process.stderr.write(
    'NOT RUN: the tests through PgBouncer, because it is not installed (apt-get install pgbouncer)\n',
  )

for (const program of pgbouncer) {
  test('stores share sessions through PgBouncer in transaction mode', async () => {
    await using database = await createDatabase()
    const direct = await openRemote({ url: database.url })
    await direct.init()
    await direct.close()
    const pooler = await startPgbouncer(program, database.url)
    await using a = await scratch({ files: { 'a.txt': 'one' } })
    await using b = await scratch()
    const remote = { url: pooler.url }
    const [first, second] = [await a.open({ remote }), await b.open({ remote })]
    const session = await first.session('pooled', {
      project: await first.project(a.project),
      agent: 'worker',
    })
    await session.save({ state: { items: [0] }, files: true })
    a.write({ 'big.bin': Buffer.alloc(600_000, 'x') })
    await session.save({ state: { items: [1] }, files: true })
    await session.tool({ id: 'call', name: 'effect' }, () => 'done')
    await Promise.all([2, 3, 4].map((n) => session.append('items', [n])))
    await session.close()
    const claimed = await second.claim({ agent: 'worker', into: b.project })
    expect(claimed?.state).toEqual({ items: [1, 2, 3, 4] })
    expect(b.snapshotOf()).toEqual(a.snapshotOf())
    expect(await second.claim()).toBe(undefined)
    await second.close()
    await first.close()
    await pooler.stop()
  })

  describeRemote({
    name: 'PgBouncer',
    isFleet: true,
    variants: ['plain'],
    async createPlace() {
      const database = await createDatabase()
      const pooler = await startPgbouncer(program, database.url)
      return {
        open: (key) => openRemote({ url: pooler.url, key }),
        async dispose() {
          await pooler.stop()
          await database.dispose()
        },
      }
    },
  })
}

test('a pool without a free connection is worth a retry', async () => {
  const database = await createDatabase()
  const pool = new pg.Pool({
    connectionString: database.url,
    max: 1,
    connectionTimeoutMillis: 3000,
  })
  const remote = await openRemote({ url: database.url, client: pool })
  await remote.init()
  const only = await pool.connect()
  await expect(remote.heads()).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE' })
  only.release()
  expect(await remote.heads()).toEqual([])
  await pool.end()
  await database.dispose()
})
