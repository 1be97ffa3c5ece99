// Refusals of the server, and our errors about them, which never have a password.
import { randomBytes } from 'node:crypto'
import { inspect } from 'node:util'
import pg from 'pg'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { openRemote, type Remote, schemaSql } from '../../../src/remote/index.js'
import { loadPg } from '../../../src/remote/postgres/connection.js'
import { createDatabase, type TestDatabase } from '../../support/postgres/index.js'
import { headOf, session, startWriter, textsOf } from '../../support/remote/writer.js'

const PASSWORD = 'se/cr:et p@ss'

let database: TestDatabase
let admin: Remote
let role: string
const opened: Remote[] = []
const errors: unknown[] = []

async function open(
  url: string,
  more: { schema?: string; client?: pg.Pool } = {},
): Promise<Remote> {
  const remote = await openRemote({ url, ...more })
  opened.push(remote)
  return remote
}

const asRole = (parameters: Record<string, string> = {}) =>
  database.urlWith({ user: role, password: PASSWORD, parameters })

/** The error of a call that must fail. */
async function failure(call: Promise<unknown>): Promise<unknown> {
  const [result] = await Promise.allSettled([call])
  if (result.status === 'fulfilled') throw new Error('it did not fail')
  errors.push(result.reason)
  return result.reason
}

beforeAll(async () => {
  database = await createDatabase()
  admin = await open(database.url)
  await admin.init()
  role = await database.createRole(PASSWORD)
})
afterAll(async () => {
  for (const remote of opened) await remote.close()
  await database.sql(`DROP OWNED BY ${role}`)
  await database.dispose()
})

test('a role without rights is refused, with what the administrator has to grant', async () => {
  const remote = await open(asRole())
  const expected = {
    code: 'REMOTE_REFUSED',
    message: expect.stringContaining('permission denied for schema savestate') as unknown,
    hint: expect.stringContaining('savestate remote init --print-sql') as unknown,
  }
  expect(await failure(remote.heads())).toMatchObject(expected)
  expect(await failure(remote.init())).toMatchObject(expected)
})

test('the printed SQL gives a role exactly what it needs, and may run twice', async () => {
  const sql = schemaSql({ schema: 'team_a', role })
  await database.sql(sql)
  await database.sql(sql)
  const remote = await open(asRole({ schema: 'team_a' }))
  expect(await failure(remote.heads())).toMatchObject({ code: 'REMOTE_REFUSED' })
  await remote.init()
  const writer = await startWriter(remote, session('as role'))
  await writer.commit('one', {
    packs: [{ id: 'p', parent: null, tree: '1'.repeat(40), project: null, bytes: Buffer.alloc(5) }],
    checkpoints: [{ id: 'c', step: 1, pack: 'p' }],
  })
  await writer.commit('two', { isBase: true })
  expect(await remote.collectPacks()).toMatchObject({ removed: 1 })
  await remote.putPack({ id: 'q', parent: null, tree: '1'.repeat(40), project: null }, [
    Buffer.alloc(9),
  ])
  expect(await remote.deleteLog(writer.log, writer.fence)).toBe(true)
  // Another schema is another remote.
  expect(await admin.head(writer.log)).toBe(undefined)
  expect(await (await open(database.url, { schema: 'team_a' })).id()).toBe(await remote.id())
})

test('an owner of an empty schema creates the tables without a right on the database', async () => {
  await database.sql(`CREATE SCHEMA own AUTHORIZATION ${role}`)
  const remote = await open(asRole({ schema: 'own' }))
  await remote.init()
  expect(await remote.heads()).toEqual([])
})

test('a role whose rights are revoked is refused from then on', async () => {
  await database.sql(schemaSql({ role }))
  const remote = await open(asRole())
  const writer = await startWriter(remote, session('revoked'))
  await writer.commit('one')
  await database.sql(`REVOKE INSERT ON savestate.segments FROM ${role}`)
  const next = writer.prepare('two')
  expect(await failure(writer.send(next))).toMatchObject({
    code: 'REMOTE_REFUSED',
    message: expect.stringContaining('permission denied for table segments') as unknown,
    hint: expect.stringContaining('administrator') as unknown,
  })
  expect(await headOf(admin, writer.log)).toMatchObject(writer.position)
  await database.sql(schemaSql({ role }))
  expect((await writer.send(next)).kind).toBe('done')
})

test('a wrong password, user or database is refused', async () => {
  for (const url of [
    database.urlWith({ user: role, password: `wrong ${PASSWORD}` }),
    database.urlWith({ user: 'no_such_role', password: PASSWORD }),
    database.urlWith({ user: role, password: PASSWORD }).replace(database.name, 'no_such_database'),
  ])
    expect(await failure((await open(url)).heads())).toMatchObject({ code: 'REMOTE_REFUSED' })
})

test('a server that asks for a password gets none from a URL without one', async () => {
  const url = new URL(asRole())
  url.password = ''
  expect(await failure((await open(url.href)).heads())).toMatchObject({
    code: 'REMOTE_REFUSED',
    hint: expect.stringContaining('PGPASSFILE') as unknown,
  })
})

test('a host that does not exist or does not answer is unreachable', async () => {
  const closed = database.urlWith({ user: role, password: PASSWORD, port: 1 })
  expect(await failure((await open(closed)).heads())).toMatchObject({ code: 'REMOTE_UNREACHABLE' })
  const unknown = new URL(asRole())
  unknown.hostname = 'no-such-host.invalid'
  expect(await failure((await open(unknown.href)).heads())).toMatchObject({
    code: 'REMOTE_UNREACHABLE',
  })
})

test('a server without TLS is refused if the URL asks for TLS', async () => {
  for (const sslmode of ['require', 'verify-full', 'no-verify'])
    expect(await failure((await open(asRole({ sslmode }))).heads())).toMatchObject({
      code: 'REMOTE_REFUSED',
      message: expect.stringContaining('does not support TLS') as unknown,
    })
})

test('URLs that cannot be used are refused without being printed', async () => {
  for (const url of [
    `mysql://${role}:${PASSWORD}@localhost/x`,
    `postgres://${role}:${PASSWORD}@local host/x`,
    asRole({ sslmode: 'sometimes' }),
    asRole({ schema: 'Robert"; DROP SCHEMA' }),
  ])
    expect(await failure(openRemote({ url }))).toMatchObject({ code: 'BAD_INPUT' })
})

test('a pool of the caller works, and stays open', async () => {
  const pool = new pg.Pool({ connectionString: database.url })
  const remote = await open(database.url, { client: pool })
  const writer = await startWriter(remote, session('pool'))
  await writer.commit('one')
  expect(await textsOf(remote, writer.log)).toEqual(['one'])
  await remote.close()
  expect((await pool.query<{ one: number }>('SELECT 1 AS one')).rows).toEqual([{ one: 1 }])
  await pool.end()
})

test('a newer schema is refused, also by a process that was connected before', async () => {
  const remote = await open(database.url)
  const writer = await startWriter(remote, session('newer'))
  await writer.commit('one')
  const next = writer.prepare('two')
  await database.sql('UPDATE savestate.format SET version = 2')
  const newer = {
    code: 'STORE_NEWER',
    message: expect.stringContaining('newer version') as unknown,
  }
  expect(await failure(writer.send(next))).toMatchObject(newer)
  expect(await failure((await open(database.url)).heads())).toMatchObject(newer)
  await database.sql('UPDATE savestate.format SET version = 1')
  expect((await writer.send(next)).kind).toBe('done')
})

test('without the package pg, the error says how to install it', async () => {
  const missing = Object.assign(new Error('Cannot find package'), { code: 'ERR_MODULE_NOT_FOUND' })
  expect(await failure(loadPg(() => Promise.reject(missing)))).toMatchObject({
    code: 'BAD_INPUT',
    hint: expect.stringContaining('npm install pg') as unknown,
  })
})

test('no error, label or remote has the password in it', async () => {
  const remote = await open(asRole())
  await remote.id()
  const texts = [...errors, remote, remote.label].map((value) =>
    inspect(value, { depth: 20, showHidden: true }),
  )
  expect(errors.length).toBeGreaterThan(12)
  const forms = [PASSWORD, encodeURIComponent(PASSWORD), 'se/cr', 'se%2Fcr', 'cr:et', 'p@ss']
  expect(texts.filter((text) => forms.some((form) => text.includes(form)))).toEqual([])
  expect(remote.label).toBe(`${new URL(asRole()).host}/${database.name}`)
})

test('a sealed remote shows the server nothing of what is stored', async () => {
  const own = await createDatabase()
  const remote = await openRemote({ url: own.url, key: randomBytes(32) })
  await remote.init()
  const secrets = [
    'secret agent',
    'secret project',
    'secret origin',
    'secret host',
    'secret reason',
  ]
  const taken = await remote.take({
    log: session('s1'),
    holder: { owner: { host: 'secret host', pid: 1, boot: 'b', startedAt: 's' }, sinceMs: 1 },
    leaseMs: null,
    create: {
      agent: 'secret agent',
      project: { id: 'p1', name: 'secret project', origin: 'secret origin' },
    },
  })
  if (!taken.taken) throw new Error('not taken')
  const tree = 'ab'.repeat(20)
  const segment = remote.encode(
    session('s1'),
    { n: 1, prev: null },
    {
      version: 1,
      isBase: false,
      nextNumber: 2,
      elements: [[1, 0, '"secret reason"']],
      nodes: [],
      states: [],
      rows: {},
      removed: {},
    },
  )
  await remote.commit({
    log: session('s1'),
    fence: taken.lease.fence,
    before: { nextN: 1, epoch: 0, hash: null },
    segment,
    isBase: false,
    status: 'in_progress',
    card: {
      agent: 'secret agent',
      project: 'secret project',
      steps: 1,
      reason: 'secret reason',
      statusReason: null,
      ages: null,
    },
    packs: [{ id: 'p', parent: null, tree, project: 'p1', bytes: Buffer.from('secret reason') }],
    checkpoints: [],
    removedCheckpoints: [],
    leaseMs: null,
  })
  const tables = ['format', 'projects', 'logs', 'live', 'segments', 'packs', 'checkpoints']
  const rows = await Promise.all(tables.map((table) => own.sql(`SELECT * FROM savestate.${table}`)))
  const stored = rows
    .flat()
    .flatMap((row) => Object.values(row))
    .map((value) =>
      value instanceof Uint8Array ? Buffer.from(value).toString('latin1') : String(value),
    )
  expect(stored.length).toBeGreaterThan(20)
  expect(
    stored.filter((text) => [...secrets, tree].some((secret) => text.includes(secret))),
  ).toEqual([])
  expect(await remote.head(session('s1'))).toMatchObject({
    card: { reason: 'secret reason' },
    project: { name: 'secret project', origin: 'secret origin' },
    holder: { owner: { host: 'secret host' } },
  })
  await remote.close()
  await own.dispose()
})
