// Errors of the connection that no list has: of the operating system, and of clients that the caller hands in.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemote, type PostgresClient } from '../../../src/remote/index.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createDatabase()
  const remote = await openRemote({ url: database.url })
  await remote.init()
  await remote.close()
})
afterAll(() => database.dispose())

/** The error of a call if the client of the caller fails with this one. */
async function reportOf(error: unknown): Promise<unknown> {
  const client: PostgresClient = { query: () => Promise.reject(error as Error) }
  const remote = await openRemote({ url: database.url, client })
  const [result] = await Promise.allSettled([remote.heads()])
  return result.status === 'rejected' ? result.reason : undefined
}

const failure = (message: string, code: string) => Object.assign(new Error(message), { code })

test('an error of the connection that has no name here is worth a retry, and is the cause', async () => {
  for (const error of [
    failure('connect EPERM 10.0.0.1:5432', 'EPERM'),
    failure('too many open files', 'EMFILE'),
    failure('getaddrinfo EAI_FAIL db', 'EAI_FAIL'),
    failure('write ENOBUFS', 'ENOBUFS'),
    // As `fetch` of Node reports it to a driver that speaks HTTP.
    new TypeError('fetch failed', { cause: failure('other side closed', 'UND_ERR_SOCKET') }),
  ])
    expect(await reportOf(error)).toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      message: expect.stringContaining(error.message) as unknown,
      cause: error,
    })
  expect(await reportOf('down')).toMatchObject({
    code: 'REMOTE_UNREACHABLE',
    message: expect.stringContaining('down') as unknown,
  })
})

test('an answer of the server is no error of the connection, also from a client of the caller', async () => {
  expect(await reportOf(failure('permission denied', '42501'))).toMatchObject({
    code: 'REMOTE_REFUSED',
  })
  expect(await reportOf(failure('the server is shutting down', '57P01'))).toMatchObject({
    code: 'REMOTE_UNREACHABLE',
  })
})

test('a pool that the caller has ended is unreachable', async () => {
  const pool = new pg.Pool({ connectionString: database.url })
  const remote = await openRemote({ url: database.url, client: pool })
  expect(await remote.heads()).toEqual([])
  await pool.end()
  await expect(remote.heads()).rejects.toMatchObject({
    code: 'REMOTE_UNREACHABLE',
    message: expect.stringContaining('after calling end on the pool') as unknown,
  })
})
