// The option `remote` of a store: what is loaded for it, where it comes from, and what is refused.
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import pg from 'pg'
import { expect, test, vi } from 'vitest'
import { openRemote, type PostgresClient } from '../../src/remote/index.js'
import { createDatabase } from '../support/postgres/index.js'
import { scratch } from '../support/scratch.js'
import { sharedPlace } from '../support/sharing/fleet.js'

const place = sharedPlace()
const SDK = new URL('../../dist/index.js', import.meta.url).href

const PROGRAM = `
  const { openStore } = await import(${JSON.stringify(SDK)})
  const store = await openStore({ home: process.argv[1] })
  const session = await store.session('task')
  await session.save({ state: { n: 1 } })
  await session.tool({ id: 'call', name: 'effect' }, () => 'done')
  await session.rewind('1', { restore: 'state' })
  await store.close()
  process.stdout.write('done')
`

/** The files that a program loads: V8 lists them with its coverage. */
function loadedFiles(folder: string, env: Readonly<Record<string, string>>): readonly string[] {
  const coverage = join(folder, `coverage-${Object.keys(env).length}`)
  mkdirSync(coverage)
  const args = ['--input-type=module', '-e', PROGRAM, join(folder, 'home')]
  const { stdout, stderr } = spawnSync(process.execPath, args, {
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] ?? '', NODE_V8_COVERAGE: coverage, ...env },
  })
  expect({ stdout, stderr }).toEqual({ stdout: 'done', stderr: '' })
  return readdirSync(coverage).flatMap((name) => {
    const { result } = JSON.parse(readFileSync(join(coverage, name), 'utf8')) as {
      readonly result: readonly { readonly url: string }[]
    }
    return result.map(({ url }) => url)
  })
}

const isOfRemotes = (url: string) =>
  /node_modules\/pg\/|\/(?:fleet|open-remote|ship-log|remote|postgres)[^/]*\.js$/.test(url)

test('without a remote neither the driver nor the code of sharing is loaded', async () => {
  await using s = await scratch()
  const without = loadedFiles(s.folder, {})
  expect(without.length).toBeGreaterThan(3)
  expect(without.filter(isOfRemotes)).toEqual([])
  const withOne = loadedFiles(s.folder, { SAVESTATE_REMOTE: place().url })
  expect(withOne.some((url) => url.includes('node_modules/pg/'))).toBe(true)
  expect(withOne.some((url) => /\/fleet[^/]*\.js$/.test(url))).toBe(true)
  // The session of the first run is shared too, once it is opened with the remote.
  const remote = await place().remote()
  expect(await remote.head({ kind: 'session', id: 'task' })).toMatchObject({ card: { steps: 4 } })
})

test('the key of the environment is that of the remote, from a file of the user', async () => {
  await using s = await scratch()
  await using database = await createDatabase()
  const key = 'ab'.repeat(32)
  const remote = await openRemote({ url: database.url, key: Buffer.from(key, 'hex') })
  await remote.init()
  const file = join(s.folder, 'key')
  writeFileSync(file, `${key}\n`)
  chmodSync(file, 0o600)
  loadedFiles(s.folder, { SAVESTATE_REMOTE: database.url, SAVESTATE_REMOTE_KEY_FILE: file })
  const heads = await remote.heads()
  expect(heads.map(({ card }) => card?.steps)).toEqual([2])
  await remote.close()
  const plain = await s.open({ home: join(s.folder, 'other'), remote: database.url })
  await expect(plain.session('x')).rejects.toMatchObject({ code: 'KEY_MISSING' })
  // Not one session is at fault, so a claim does not pass over it.
  await expect(plain.claim()).rejects.toMatchObject({ code: 'KEY_MISSING' })
  const wrong = { url: database.url, key: 'cd'.repeat(32) }
  const other = await s.open({ home: join(s.folder, 'third'), remote: wrong })
  await expect(other.claim()).rejects.toMatchObject({ code: 'KEY_WRONG' })
})

test('a store without a remote has nothing to claim', async () => {
  await using s = await scratch()
  const store = await s.open()
  const refused = {
    code: 'REMOTE_UNKNOWN',
    hint: 'Open it with one: openStore({ remote: "postgres://…" }).',
  }
  await expect(store.claim({ agent: 'worker' })).rejects.toMatchObject(refused)
})

test('a caller can hand in a pool of pg, which the store leaves open', async () => {
  await using s = await scratch()
  const { Pool } = (await import('pg')).default
  const client = new Pool({ connectionString: place().url })
  const store = await s.open({ remote: { url: place().url, client } })
  const session = await store.session('pooled')
  await session.save({ state: { n: 1 } })
  await store.close()
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM savestate.logs WHERE id = 'pooled'`,
  )
  expect(rows).toEqual([{ id: 'pooled' }])
  await client.end()
})

test('init without a name creates the tables of the remote that the store was opened with', async () => {
  await using database = await createDatabase()
  await using s = await scratch()
  const store = await s.open({ remote: { url: database.url, schema: 'blue' } })
  const { host, pathname } = new URL(database.url)
  const expected = { kind: 'postgres', label: `${host}${pathname} (schema blue)` }
  expect([await store.remotes.init(), await store.remotes.init()]).toEqual([expected, expected])
  await store.remotes.add('team', { url: 'postgres://127.0.0.1:1/none', plain: true })
  const session = await store.session('first')
  await session.save({ state: { n: 1 } })
  await expect(store.remotes.init('team')).rejects.toMatchObject({ code: 'REMOTE_UNREACHABLE' })
})

test('a store refuses a remote that cannot serve a fleet, and options that it does not know', async () => {
  await using s = await scratch()
  const refused = [
    'https://example.org/repo.git',
    '/srv/repo.git',
    'nonsense',
    { url: 'postgres://localhost/x', keyFile: 'k' },
    { url: 'postgres://localhost/x', key: 'short' },
    7,
  ]
  for (const remote of refused)
    await expect(s.open({ remote: remote as string })).rejects.toMatchObject({
      code: expect.stringMatching(/^(?:BAD_INPUT|KEY_UNUSABLE)$/) as unknown,
    })
})

test('a server that cannot be reached does not keep a store from opening, and an error never has the password', async () => {
  await using s = await scratch()
  const store = await s.open({ remote: 'postgres://user:hunter2@127.0.0.1:1/x' })
  expect(await store.sessions()).toEqual([])
  const error: unknown = await store.session('task').catch((thrown: unknown) => thrown)
  expect(error).toMatchObject({ code: 'REMOTE_UNREACHABLE' })
  expect(JSON.stringify(error) + String((error as Error).stack)).not.toContain('hunter2')
})

test('a close that fails ends the checks for a prune too', async () => {
  await using s = await scratch()
  const pool = new pg.Pool({ connectionString: place().url })
  let isRefused = false
  const client: PostgresClient = {
    query: async (query) => {
      if (isRefused) throw Object.assign(new Error('permission denied'), { code: '42501' })
      return pool.query<Record<string, unknown>>(query)
    },
  }
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
  try {
    const store = await s.open({ remote: { url: place().url, client } })
    const session = await store.session('refused')
    isRefused = true
    await expect(session.save({ state: { n: 1 } })).rejects.toMatchObject({ code: 'NOT_SHARED' })
    expect(vi.getTimerCount()).toBeGreaterThan(0)
    await expect(store.close()).rejects.toMatchObject({ code: 'NOT_SHARED' })
    // A check of the closed store would end the process ten minutes later.
    expect(vi.getTimerCount()).toBe(0)
  } finally {
    vi.useRealTimers()
    await pool.end()
  }
})
