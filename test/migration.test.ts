// A store of every former version opens, and holds what it held. The fixtures are frozen: see docs/design.md.
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { openDatabase } from '../src/system/sqlite.js'
import { scratch, sdk } from './scratch.js'

const FIXTURES = fileURLToPath(new URL('./fixtures', import.meta.url))

test('there is a store of every version but the present one', () => {
  expect(readdirSync(FIXTURES)).toEqual(['store-1'])
})

test('a store of version 1 is brought up to date and everything in it comes back', async () => {
  await using s = await scratch()
  cpSync(join(FIXTURES, 'store-1'), s.home, { recursive: true })
  chmodSync(s.home, 0o700)
  const database = openDatabase(join(s.home, 'ledger.db'), { timeoutMs: 1000 })
  expect(database.get('PRAGMA user_version')).toEqual({ user_version: 1 })
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
