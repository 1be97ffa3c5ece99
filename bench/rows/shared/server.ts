/**
 * One PostgreSQL server for all rows with a remote, which flushes as in production, with a database for each writer. It ends with the
 * run.
 */
import pg from 'pg'
import {
  createDatabase,
  startServer,
  type TestDatabase,
} from '../../../test/support/postgres/index.js'
import { openRemote } from '../../../src/remote/index.js'
import { shared } from '../../bench.js'

const server = shared(() => startServer({ fsync: true }))

/** An empty database, for a peer that makes its own tables. */
export async function emptyDatabase(bench: Parameters<typeof server>[0]): Promise<TestDatabase> {
  const { url } = await server(bench)
  return createDatabase(url)
}

/** A database in which sessions can be shared. */
export async function remoteDatabase(bench: Parameters<typeof server>[0]): Promise<TestDatabase> {
  const database = await emptyDatabase(bench)
  const remote = await openRemote({ url: database.url })
  await remote.init()
  await remote.close()
  return database
}

/** The bytes of all tables of a database, with their indexes, after a plain VACUUM, which is what autovacuum does. */
export async function sizeOfTables({ url }: Pick<TestDatabase, 'url'>): Promise<number> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  try {
    await client.query('VACUUM')
    const { rows } = await client.query<{ readonly bytes: string }>(
      `SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0) AS bytes FROM pg_class c
       JOIN pg_namespace n ON n.oid = c.relnamespace
       WHERE c.relkind = 'r' AND n.nspname NOT IN ('pg_catalog', 'information_schema')`,
    )
    return Number(rows[0]?.bytes)
  } finally {
    await client.end()
  }
}
