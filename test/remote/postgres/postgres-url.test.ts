import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import process from 'node:process'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findPassword } from '../../../src/remote/postgres/password-file.js'
import { parsePostgresUrl } from '../../../src/remote/postgres/postgres-url.js'

let folder: string
const { PGPASSFILE, PGHOST } = process.env

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'savestate-test-'))
})
afterEach(() => {
  rmSync(folder, { recursive: true })
  for (const [name, value] of Object.entries({ PGPASSFILE, PGHOST }))
    if (value === undefined) Reflect.deleteProperty(process.env, name)
    else process.env[name] = value
})

test('all parts of a URL are read', () => {
  expect(
    parsePostgresUrl(
      'postgresql://an%40na:p%2Fw@db.example.com:6432/agents?schema=team_a&options=-c+x',
    ),
  ).toEqual({
    login: {
      host: 'db.example.com',
      port: 6432,
      user: 'an@na',
      password: 'p/w',
      database: 'agents',
      options: '-c x',
    },
    ssl: { rejectUnauthorized: true },
    schema: 'team_a',
    label: 'db.example.com:6432/agents (schema team_a)',
  })
  expect(parsePostgresUrl('postgres:///agents?host=/run/pg')).toEqual({
    login: { host: '/run/pg', database: 'agents' },
    ssl: false,
    schema: 'savestate',
    label: '/run/pg/agents',
  })
  expect(parsePostgresUrl('postgres://x/y', 'other').schema).toBe('other')
})

test('TLS is verified for every host but this machine', () => {
  const sslOf = (url: string) => parsePostgresUrl(url).ssl
  const local = ['localhost', '127.0.0.1', '127.1.2.3', '[::1]', '', '%2Frun%2Fpg']
  expect(local.map((host) => sslOf(`postgres://${host}/d`))).toEqual(local.map(() => false))
  const remote = ['db.example.com', '10.0.0.1', 'localhost.example.com', '1270.0.0.1']
  const verified = { rejectUnauthorized: true }
  expect(remote.map((host) => sslOf(`postgres://${host}/d`))).toEqual(remote.map(() => verified))
  const modes = ['verify-full', 'verify-ca', 'require', 'prefer', 'no-verify', 'disable']
  expect(modes.map((mode) => sslOf(`postgres://db.example.com/d?sslmode=${mode}`))).toEqual([
    verified,
    verified,
    verified,
    verified,
    { rejectUnauthorized: false },
    false,
  ])
  expect(sslOf('postgres://localhost/d?sslmode=require')).toEqual(verified)
  process.env['PGHOST'] = 'db.example.com'
  expect(sslOf('postgres:///d')).toEqual(verified)
})

test('the certificates are read from their files', () => {
  const ca = join(folder, 'ca.crt')
  writeFileSync(ca, 'certificate')
  expect(parsePostgresUrl(`postgres://db.example.com/d?sslrootcert=${ca}`).ssl).toEqual({
    ca: Buffer.from('certificate'),
    rejectUnauthorized: true,
  })
})

test('a malformed URL is refused without its text', () => {
  for (const url of ['postgres://u:secret@ho st/d', 'postgres://u:%E0%A4%A@h/secret'])
    expect(() => parsePostgresUrl(url)).toThrow(
      expect.objectContaining({
        code: 'BAD_INPUT',
        message: expect.not.stringContaining('secret') as unknown,
      }),
    )
})

test('the password file has lines with wildcards and escapes', () => {
  const path = join(folder, 'passwords')
  process.env['PGPASSFILE'] = path
  const target = { host: 'db', port: 5432, database: 'agents', user: 'anna' }
  expect(findPassword(target)).toBe(undefined)
  writeFileSync(
    path,
    `# db:5432:agents:anna:comment
db:5433:agents:anna:other port
db:5432:agents:bob:other user
db:*:agents:anna:a\\:b\\\\c
*:*:*:*:default
`,
    { mode: 0o600 },
  )
  expect(findPassword(target)).toBe('a:b\\c')
  expect(findPassword({ ...target, host: 'elsewhere' })).toBe('default')
  writeFileSync(path, 'localhost:*:*:*:local\n')
  expect(findPassword({ ...target, host: '/run/postgresql' })).toBe('local')
  expect(findPassword(target)).toBe(undefined)
  chmodSync(path, 0o644)
  expect(findPassword({ ...target, host: 'localhost' })).toBe(undefined)
})
