// Errors of the connection that no list has: of the operating system, and of clients that the caller hands in.
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemote, type PostgresClient } from '../../../src/remote/index.js'
import { readPacks, startThread, textsOf } from '../../support/remote/writer.js'
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

test('the first segment of a thread is one statement, also with a project, a pack and a checkpoint', async () => {
  const pool = new pg.Pool({ connectionString: database.url })
  let statements = 0
  const client: PostgresClient = {
    query: (query) => {
      statements += 1
      return pool.query(query)
    },
  }
  const remote = await openRemote({ url: database.url, client })
  await remote.id()
  statements = 0
  const writer = startThread(remote, 'one statement')
  const bytes = Buffer.from('pack')
  const packs = [{ id: 'p', parent: null, tree: 'a'.repeat(40), project: null, bytes }]
  const checkpoints = [{ id: 'c', step: 1, pack: 'p' }]
  const project = { id: 'project', name: 'Project', origin: null }
  const first = writer.prepare('one', { packs, checkpoints })
  expect(await writer.send({ ...first, project })).toMatchObject({ kind: 'done' })
  expect(statements).toBe(1)
  await writer.commit('two')
  expect(statements).toBe(2)
  expect(await remote.head(writer.log)).toMatchObject({ project, nextN: 3, epoch: 0 })
  expect(await textsOf(remote, writer.log)).toEqual(['one', 'two'])
  expect((await readPacks(remote, 'p')).map(({ length }) => length)).toEqual([bytes.length])
  await pool.end()
})
