// A store of every former version opens, and holds what it held. The fixtures are frozen: see docs/design.md.
import { spawnSync } from 'node:child_process'
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { type Database, openDatabase } from '../src/system/sqlite.js'
import { scratch, sdk } from './scratch.js'

const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url))

/** States of format 1 are not readable any more; those of the fixtures differ from format 2 in its number only. */
const AS_FORMAT_2 = "UPDATE states SET body = '[2' || substr(body, 3)"

test('there is a store of every version but the present one', () => {
  expect(readdirSync(FIXTURES)).toEqual(['store-1', 'store-2', 'store-3'])
})

test('a store of version 1 is brought up to date and everything in it comes back', async () => {
  await using s = await scratch()
  const database = openFixture('store-1', s.home)
  expect(database.get('PRAGMA file.user_version')).toEqual({ user_version: 1 })
  database.run('UPDATE projects SET path = ?', Buffer.from(s.project))
  database.close()

  const store = await sdk.openStore({ home: s.home })
  const project = await store.project(s.project)
  const { checkpoints } = await project.list()
  expect(checkpoints.map(({ kind, name, pinned }) => ({ kind, name, pinned }))).toEqual([
    { kind: 'undo', name: null, pinned: false },
    { kind: 'rewind', name: null, pinned: false },
    { kind: 'save', name: null, pinned: false },
    { kind: 'save', name: 'start', pinned: true },
  ])
  await project.rewind({ to: 'start' })
  expect(readFileSync(join(s.project, 'src/app.ts'), 'utf8')).toBe('export const answer = 42\n')
  expect(readdirSync(s.project).sort()).toEqual(['notes.md', 'run.sh', 'src'])
  // Undo of what was done before the migration is still known, and new things can be added.
  await project.undo()
  expect(readdirSync(s.project)).toEqual([])
  writeFileSync(join(s.project, 'new'), 'new')
  const session = await store.session('after', { project })
  await session.save({ state: { messages: [] }, files: true })
  expect(await store.verify()).toMatchObject({ problems: [] })
  await store.close()
})

test('a store of version 2 is brought up to date, sessions and states included', async () => {
  await using s = await scratch()
  const database = openFixture('store-2', s.home)
  expect(database.get('PRAGMA file.user_version')).toEqual({ user_version: 2 })
  database.run(AS_FORMAT_2)
  database.run('UPDATE projects SET path = ?', Buffer.from(s.project))
  database.close()

  const store = await sdk.openStore({ home: s.home })
  const project = await store.project(s.project)
  expect((await project.list()).checkpoints.map(({ name, step }) => ({ name, step }))).toEqual([
    { name: null, step: 2 },
    { name: null, step: 1 },
    { name: 'begun', step: 0 },
    { name: 'start', step: null },
  ])
  const session = await store.session('fix-login')
  expect(await session.stateAt('begun')).toEqual({
    messages: [{ role: 'user', content: 'fix the login' }],
    seen: new Map([['a', new Date(0)]]),
  })
  await project.rewind({ to: 'start' })
  expect(readFileSync(join(s.project, 'src/app.ts'), 'utf8')).toBe('export const answer = 42\n')
  expect(await store.verify()).toMatchObject({ problems: [] })
  await store.close()
})

test('in a store of version 3 nobody knows who changed what, and from then on it is known', async () => {
  await using s = await scratch()
  const database = openFixture('store-3', s.home)
  expect(database.get('PRAGMA file.user_version')).toEqual({ user_version: 3 })
  database.run(AS_FORMAT_2)
  database.run('UPDATE projects SET path = ?', Buffer.from(s.project))
  database.close()

  const store = await sdk.openStore({ home: s.home })
  const project = await store.project(s.project)
  const { checkpoints } = await project.list()
  expect(checkpoints.map(({ kind, author }) => [kind, author])).toEqual([
    ['undo', null],
    ['rewind', null],
    ['save', null],
    ['save', null],
    ['save', null],
  ])
  await project.rewind({ to: 'start' })
  expect(readFileSync(join(s.project, 'src/app.ts'), 'utf8')).toBe('export const answer = 42\n')
  writeFileSync(join(s.project, 'new'), 'new')
  expect(await project.save()).toMatchObject({ author: 'you' })
  expect((await project.list({ limit: 2 })).checkpoints.at(-1)).toMatchObject({ author: 'rewind' })
  expect(await store.note('kept')).toBe('a note')
  expect(await store.verify()).toMatchObject({ problems: [] })
  await store.close()
})

function openFixture(name: string, home: string): Database {
  cpSync(join(FIXTURES, name), home, { recursive: true })
  // Git keeps no modes, so a fresh clone has other ones.
  for (const entry of readdirSync(home, { recursive: true, withFileTypes: true }))
    chmodSync(join(entry.parentPath, entry.name), entry.isDirectory() ? 0o700 : 0o600)
  chmodSync(home, 0o700)
  const repository = join(home, 'objects.git')
  const { stderr } = spawnSync('git', ['--git-dir', repository, 'fsck'], { encoding: 'utf8' })
  // Their git was newer than the one that is here (test/git-versions.test.ts).
  if (stderr.includes('Unhandled message id')) {
    const config = join(repository, 'config')
    const text = readFileSync(config, 'utf8')
    writeFileSync(config, text.replace(/^\tgitattributes(?!Symlink).*\n/gm, ''))
  }
  return openDatabase(join(home, 'ledger.db'), { timeoutMs: 1000 })
}
