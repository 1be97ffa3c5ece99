// Two versions on one store: a running program of this version does not change a store that a newer one has migrated (I8), and does
// not report a save to a removed store as successful.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../support/scratch.js'

const DRIVER = import.meta.resolve('@photostructure/sqlite')

/** Migrates a ledger as a newer version would, in another process: other tables, another version number. */
function bringForward(s: Scratch, sql: string): void {
  const script = `
    const { DatabaseSync } = await import(${JSON.stringify(DRIVER)})
    const ledger = new DatabaseSync(${JSON.stringify(join(s.home, 'ledger.db'))})
    ledger.exec(${JSON.stringify(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = 99; COMMIT`)})
    ledger.close()
  `
  const { status, stderr } = spawnSync(process.execPath, ['--input-type=module', '-e', script], {
    encoding: 'utf8',
  })
  expect([status, stderr]).toEqual([0, ''])
}

const NEWER = { code: 'STORE_NEWER' }

test('every write of a running process fails once a newer version has migrated the ledger', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save({ name: 'first' })
  const session = await store.session('agent', { project })
  await session.save({ state: { n: 1 } })
  s.write({ 'a.txt': 'two' })
  bringForward(s, 'CREATE TABLE of_the_future (id INTEGER)')
  const files = s.snapshotOf()
  const objects = s.hashTree(join(s.home, 'objects.git'))

  await expect(project.save()).rejects.toMatchObject(NEWER)
  await expect(project.rewind(id)).rejects.toMatchObject(NEWER)
  await expect(project.pin(id)).rejects.toMatchObject(NEWER)
  await expect(project.name(id, 'other')).rejects.toMatchObject(NEWER)
  await expect(session.save({ state: { n: 2 } })).rejects.toMatchObject(NEWER)
  await expect(session.append('messages', [{ role: 'user', content: 'x' }])).rejects.toMatchObject(
    NEWER,
  )
  await expect(store.session('another')).rejects.toMatchObject(NEWER)
  await expect(store.prune()).rejects.toMatchObject(NEWER)
  await expect(store.deleteSession('agent')).rejects.toMatchObject(NEWER)
  await expect(store.close()).rejects.toMatchObject(NEWER)

  // Nothing has changed, and opening the store is refused.
  expect(s.snapshotOf()).toEqual(files)
  expect(s.hashTree(join(s.home, 'objects.git'))).toEqual(objects)
  await expect(s.open()).rejects.toMatchObject(NEWER)
})

test('a query that fails on newer tables is not reported as a bug', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save()
  bringForward(s, 'ALTER TABLE checkpoints RENAME TO points')
  await expect(project.list()).rejects.toMatchObject(NEWER)
})

test('a newer format file stops a running process from adding objects', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save()
  s.write({ 'a.txt': 'two' })
  writeFileSync(join(s.home, 'format'), 'savestate 2\n')
  const before = s.hashTree(join(s.home, 'objects.git'))
  await expect(project.save()).rejects.toMatchObject(NEWER)
  expect(s.hashTree(join(s.home, 'objects.git'))).toEqual(before)
})

test.each(['removed', 'moved away', 'replaced by another store'])(
  'a running process does not write to a store that was %s, and reports no save as successful',
  async (what) => {
    await using s = await scratch({ files: { 'a.txt': 'one' } })
    const store = await s.open()
    const project = await store.project(s.project)
    const session = await store.session('agent')
    await project.save()
    s.write({ 'a.txt': 'two' })
    const away = join(s.folder, 'away')
    if (what === 'removed') rmSync(s.home, { recursive: true })
    else renameSync(s.home, away)
    if (what === 'replaced by another store') await (await s.open()).close()
    const gone = { code: 'STORE_UNUSABLE' }
    await expect(project.save()).rejects.toMatchObject(gone)
    await expect(session.save({ state: { n: 1 } })).rejects.toMatchObject(gone)
    await expect(store.close()).rejects.toMatchObject(gone)
    if (what === 'replaced by another store') return
    // No incomplete store at its path: opening would refuse it.
    expect(() => s.snapshotOf(s.home)).toThrow(/ENOENT/)
    if (what === 'moved away') renameSync(away, s.home)
    const again = await s.open()
    expect(await (await again.project(s.project)).save()).toMatchObject({ created: true })
    expect((await again.verify()).problems).toEqual([])
  },
)
