// Poolers give each statement another connection: the extreme case of one connection per statement, with a client that the caller hands
// in, and PgBouncer in transaction mode where the machine has it.
import pg from 'pg'
import { expect, test } from 'vitest'
import { openRemote, type PostgresClient } from '../../../src/remote/index.js'
import { createDatabase } from '../../support/postgres/index.js'
import { findPgbouncer, startPgbouncer } from '../../support/postgres/pgbouncer.js'
import { describeRemote } from '../../support/remote/remote-contract.js'

describeRemote({
  name: 'a connection per statement',
  isFleet: true,
  isPlainOnly: true,
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

for (const program of findPgbouncer())
  describeRemote({
    name: 'PgBouncer',
    isFleet: true,
    isPlainOnly: true,
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
