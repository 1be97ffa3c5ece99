// A server that crashes, is replaced by an older copy, or is full.
import { randomBytes } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { openRemote, type Remote } from '../../../src/remote/index.js'
import {
  createDatabase,
  type PostgresServer,
  type ServerOptions,
  startServer,
  type TestDatabase,
} from '../../support/postgres/index.js'
import { runProgram } from '../../support/remote/program.js'
import { headOf, readAll, session, startWriter, textsOf } from '../../support/remote/writer.js'

let server: PostgresServer
let database: TestDatabase
const opened: Remote[] = []

async function startWith(options: ServerOptions = {}): Promise<Remote> {
  server = await startServer(options)
  database = await createDatabase(server.url)
  const remote = await open(database.url)
  await remote.init()
  return remote
}

async function open(url: string): Promise<Remote> {
  const remote = await openRemote({ url })
  opened.push(remote)
  return remote
}

afterEach(async () => {
  for (const remote of opened.splice(0)) await remote.close()
  await server.dispose()
})

test('a server that was stopped hard has everything that it confirmed', async () => {
  const remote = await startWith()
  const writer = await startWriter(remote, session('crash'))
  const confirmed = Array.from({ length: 30 }, (_, i) => `text ${i}`)
  for (const text of confirmed) await writer.commit(text)
  await server.stop('immediate')
  const next = writer.prepare('after the crash')
  await expect(writer.send(next)).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE' })
  await server.start()
  expect(await writer.send(next)).toMatchObject({ kind: 'done' })
  expect(await textsOf(remote, writer.log)).toEqual([...confirmed, 'after the crash'])
})

test('a failover that lost commits is visible in the head and to readers', async () => {
  const remote = await startWith()
  const writer = await startWriter(remote, session('failover'))
  await writer.commit('one')
  const [first] = await readAll(remote, writer.log)
  await server.stop()
  const failOver = server.keepCopy()
  await server.start()
  await writer.commit('two')
  await writer.commit('three')
  const confirmed = writer.position
  await server.stop('immediate')
  failOver()
  await server.start()

  const head = await headOf(remote, writer.log)
  expect(head).toMatchObject({ nextN: 2, hash: first?.hash, fence: writer.fence })
  const late = await writer.send(writer.prepare('four'))
  expect(late).toMatchObject({ kind: 'conflict', head: { nextN: 2, fence: writer.fence } })
  expect(await readAll(remote, writer.log, { n: 3, hash: confirmed.hash, epoch: 0 })).toEqual([])

  // The holder has the highest fence, so it sends all again, as a base.
  writer.position = { nextN: head.nextN, epoch: head.epoch, hash: head.hash }
  await writer.commit('one, two, three', { isBase: true })
  await writer.commit('four')
  expect(await textsOf(remote, writer.log)).toEqual(['one, two, three', 'four'])
  // A reader that knows the lost commits is not led from one history into the other.
  const lost = { n: 2, hash: 'cd'.repeat(32), epoch: 0 }
  await expect(readAll(remote, writer.log, lost)).rejects.toMatchObject({
    code: 'REMOTE_WENT_BACK',
  })
})

test('a full disk fails the commit with the message of the server, and nothing else', async () => {
  // Not a multiple of a page, so that the last write is a partial one.
  const remote = await startWith({ fileLimitBytes: (4 << 20) + 512 })
  const writer = await startWriter(remote, session('full'))
  const fill = async () => {
    for (let i = 0; i < 100; i++)
      await writer.commit(`${i} ${randomBytes(1 << 17).toString('hex')}`)
  }
  await expect(fill()).rejects.toMatchObject({
    code: 'REMOTE_UNREACHABLE',
    message: expect.stringMatching(/could not (?:extend|write)/) as unknown,
  })
  const { position } = writer
  expect(position.nextN).toBeGreaterThan(10)
  expect(await headOf(remote, writer.log)).toMatchObject(position)
  expect((await textsOf(remote, writer.log)).length).toBe(position.nextN - 1)
  // Space is free again.
  await writer.commit('small', { isBase: true })
})

test('TLS is verified unless the URL says otherwise', async () => {
  await startWith({ tls: true })
  const { url } = database
  const certificate = new URL('../../fixtures/tls/server.crt', import.meta.url).pathname
  const at = (host: string, parameters: Readonly<Record<string, string>>) => {
    const other = new URL(url)
    other.hostname = host
    for (const [name, value] of Object.entries(parameters)) other.searchParams.set(name, value)
    return other.href
  }
  const verified = { sslmode: 'verify-full', sslrootcert: certificate }
  const isEncrypted = async (address: string) => {
    const remote = await open(address)
    await remote.id()
    const rows = await database.sql(
      `SELECT ssl FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'savestate' ORDER BY backend_start DESC LIMIT 1`,
    )
    return rows[0]?.['ssl']
  }
  expect(await isEncrypted(url)).toBe(false)
  expect(await isEncrypted(at('localhost', verified))).toBe(true)
  expect(await isEncrypted(at('127.0.0.1', { sslmode: 'no-verify' }))).toBe(true)
  expect(await isEncrypted(at('127.0.0.1', { sslmode: 'disable' }))).toBe(false)
  for (const refused of [
    at('127.0.0.1', verified),
    at('localhost', { sslmode: 'require' }),
    at('localhost', { sslmode: 'prefer' }),
  ])
    await expect((await open(refused)).id()).rejects.toMatchObject({
      code: 'REMOTE_REFUSED',
      message: expect.stringContaining('the certificate of the server is not valid') as unknown,
      hint: expect.stringContaining('sslrootcert') as unknown,
    })

  // An idle connection with TLS does not keep the process alive either.
  expect(await runProgram(at('localhost', verified))).toEqual({ code: 0, output: '0\n' })
})

test('updates of `live` stay in their page', async () => {
  const remote = await startWith()
  const writer = await startWriter(remote, session('hot'))
  for (let i = 0; i < 200; i++) await writer.commit(`text ${i}`)
  await remote.renew([writer.lease], 1000)
  // The server counts when a connection ends.
  await remote.close()
  const read = async () => {
    const [row] = await database.sql(
      `SELECT n_tup_upd::int AS updates, n_tup_hot_upd::int AS hot FROM pg_stat_user_tables WHERE relname = 'live'`,
    )
    return row
  }
  await expect.poll(async () => Number((await read())?.['updates'])).toBe(202)
  expect((await read())?.['hot']).toBe(202)
})
