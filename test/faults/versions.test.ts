// Two versions on one store: what a newer program has brought forward, a running one of this version does not touch
// (I8), and what was removed under it is not told as saved.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { type Scratch, scratch } from '../support/scratch.js'

const DRIVER = import.meta.resolve('@photostructure/sqlite')

/** What a newer version does to a ledger, in a process of its own: other tables, another number. */
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

  // Nothing was touched, and who comes new is refused at the door.
  expect(s.snapshotOf()).toEqual(files)
  expect(s.hashTree(join(s.home, 'objects.git'))).toEqual(objects)
  await expect(s.open()).rejects.toMatchObject(NEWER)
})

test('a question that the tables of a newer version cannot answer is no bug', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  await project.save()
  bringForward(s, 'ALTER TABLE checkpoints RENAME TO points')
  await expect(project.list()).rejects.toMatchObject(NEWER)
})

test('a newer format alone keeps a running process from adding objects', async () => {
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
  'a store that was %s under a running process is not written to, and nothing is told as saved',
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
    // No half of a store in its place: it would be refused as something else.
    expect(() => s.snapshotOf(s.home)).toThrow(/ENOENT/)
    if (what === 'moved away') renameSync(away, s.home)
    const again = await s.open()
    expect(await (await again.project(s.project)).save()).toMatchObject({ created: true })
    expect((await again.verify()).problems).toEqual([])
  },
)
