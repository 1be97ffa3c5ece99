// docs/guide/store.md#prune: a project is an orphan only if its folder was provably removed; a project in use waits for the next prune.
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import type { Store } from '../../../src/index.js'
import {
  DAY_MS,
  HandClock,
  idsOf,
  otherFolder,
  planOf,
  saveMany,
  setProject,
  setStore,
  withStore,
} from './prune-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../../support/crash-child.mjs')

/** A project in its own folder, with a cache on disk. */
async function savedIn(s: Scratch, store: Store, folder: string): Promise<string> {
  const files = Array.from({ length: 150 }, (_, n) => [`many/${n}`, `${folder} ${n}`])
  s.write(Object.fromEntries(files), folder)
  return (await (await store.project(folder)).save()).id
}

function refs(s: Scratch): string {
  return s.git(['-C', join(s.home, 'objects.git'), 'for-each-ref', '--format=%(refname)'])
}

function objectCount(s: Scratch): number {
  const args = ['cat-file', '--batch-all-objects', '--batch-check']
  const text = s.git(['-C', join(s.home, 'objects.git'), ...args])
  return text === '' ? 0 : text.split('\n').length
}

describe('orphans', () => {
  test('a prune of an orphan removes its refs, rows, cache, lock and objects', async () => {
    await using s = await scratch()
    const folder = otherFolder(s, 'gone')
    await withStore(s, (store) => savedIn(s, store, folder))
    expect(readdirSync(join(s.home, 'cache')).length).toBe(1)
    rmSync(folder, { recursive: true })
    await withStore(s, async (store) => {
      const result = await store.prune()
      expect(planOf(result, folder)).toMatchObject({
        state: 'orphan',
        drop: [{ why: 'orphan' }],
        keep: {},
      })
      expect(result).toMatchObject({ deletedOrphan: 1, deletedStale: 0, errors: [] })
      expect((await store.status()).projects).toEqual([])
    })
    expect(refs(s)).toBe('')
    expect(objectCount(s)).toBe(0)
    expect(readdirSync(join(s.home, 'cache'))).toEqual([])
    expect(readdirSync(join(s.home, 'locks')).filter((name) => /^[a-z]{18}/.test(name))).toEqual([])
  })

  test.each([
    ['--keep-orphans', { keepOrphans: true }],
    ['nobody there', { unattended: true }],
  ])('a project with %s is kept and reported', async (_, input) => {
    await using s = await scratch()
    const folder = otherFolder(s, 'gone')
    const store = await s.open()
    await savedIn(s, store, folder)
    rmSync(folder, { recursive: true })
    const result = await store.prune(input)
    expect(planOf(result, folder)).toMatchObject({ state: 'orphan', drop: [], keep: { recent: 1 } })
    expect(result.deletedOrphan).toBe(0)
    expect((await store.status()).projects).toMatchObject([{ state: 'orphan', checkpoints: 1 }])
  })

  test.each([
    ['missing', 'its parent folder cannot be reached either'],
    ['another one', 'its parent folder is not the same one as before'],
    ['empty', 'its parent folder is empty, like that of a disk that is not mounted'],
    ['a file', 'its parent folder cannot be reached either'],
  ])('what cannot be reached stays, and why: the folder above is %s', async (what, why) => {
    await using s = await scratch()
    const parent = otherFolder(s, 'disk')
    const folder = otherFolder(s, 'disk/work')
    const store = await s.open()
    const id = await savedIn(s, store, folder)
    const away = join(s.folder, 'away')
    if (what === 'empty') renameSync(folder, away)
    else renameSync(parent, away)
    if (what === 'another one') {
      mkdirSync(parent)
      writeFileSync(join(parent, 'something'), 'else')
    }
    if (what === 'a file') writeFileSync(parent, 'a file')
    const result = await store.prune()
    expect(planOf(result, folder)).toMatchObject({
      state: 'unreachable',
      unreachable: why,
      drop: [],
    })
    expect(result).toMatchObject({ deletedOrphan: 0, errors: [] })
    rmSync(parent, { recursive: true, force: true })
    if (what === 'empty') mkdirSync(parent)
    renameSync(away, what === 'empty' ? folder : parent)
    expect(await idsOf(await store.project(folder))).toEqual([id])
  })

  test.each([
    ['nowhere', 'not-mounted/work'],
    ['in a circle', 'work'],
  ])('nor is one gone whose place has a link that leads %s', async (_, link) => {
    await using s = await scratch()
    const folder = otherFolder(s, 'disk/work')
    const store = await s.open()
    const id = await savedIn(s, store, folder)
    renameSync(folder, join(s.folder, 'away'))
    symlinkSync(link, folder)
    expect((await store.status()).projects).toMatchObject([{ state: 'unreachable' }])
    const result = await store.prune()
    expect(planOf(result, folder)).toMatchObject({
      state: 'unreachable',
      unreachable: 'its path is a link that leads to no folder',
      drop: [],
    })
    expect(result.deletedOrphan).toBe(0)
    rmSync(folder)
    renameSync(join(s.folder, 'away'), folder)
    expect(await idsOf(await store.project(folder))).toEqual([id])
  })

  test('an unreachable project ages like any other', async () => {
    await using s = await scratch()
    const parent = otherFolder(s, 'disk')
    setStore(s, { retention: 'hermes' })
    const clock = new HandClock()
    const store = await s.open({ clock })
    await savedIn(s, store, otherFolder(s, 'disk/work'))
    rmSync(parent, { recursive: true })
    clock.pass(8 * DAY_MS)
    expect(await store.prune({ unattended: true })).toMatchObject({ deletedStale: 1 })
  })
})

test.each(['not mounted', 'removed, and orphans are kept'])(
  'a project whose folder is %s uses its own settings from the newest checkpoint',
  async (how) => {
    await using s = await scratch()
    const parent = otherFolder(s, 'disk')
    const folder = otherFolder(s, 'disk/work')
    const clock = new HandClock()
    const store = await s.open({ clock })
    const project = await store.project(folder)
    setStore(s, { retention: 'hermes', maxCheckpoints: 1 })
    setProject(folder, { retentionDays: 365, maxCheckpoints: 3 })
    const saved = await saveMany(project, s, { count: 4 })
    const other = await store.project(otherFolder(s, 'disk/other'))
    await saveMany(other, s, { count: 1 })
    const away = join(s.folder, 'away')
    renameSync(how === 'not mounted' ? parent : folder, away)
    clock.pass(30 * DAY_MS)
    const result = await store.prune({ keepOrphans: true })
    expect(planOf(result, folder).drop).toEqual([{ id: saved[0], why: 'count' }])
    expect(planOf(result, other.path).drop).toMatchObject([{ why: 'age' }])
    clock.pass(365 * DAY_MS)
    expect(await store.prune({ keepOrphans: true })).toMatchObject({ deletedStale: 1 })
  },
)

describe('in use', () => {
  test('a project in use is skipped and reported; the others are pruned', async () => {
    await using s = await scratch()
    const busy = otherFolder(s, 'busy')
    const store = await s.open()
    for (const folder of [s.project, busy])
      await saveMany(await store.project(folder), s, { count: 3 })
    const { projects } = await store.status()
    const { id = '' } = projects.find(({ path }) => path === busy) ?? {}
    const holder = await holdLock(join(s.home, 'locks', id))
    const result = await store.prune({ maxCheckpoints: 1 })
    expect(result.errors).toEqual([
      { what: busy, code: 'PROJECT_BUSY', message: 'it is in use; left for the next prune' },
    ])
    expect(result.deletedCheckpoints).toBe(2)
    await holder.end()
    expect(await store.prune({ maxCheckpoints: 1 })).toMatchObject({
      errors: [],
      deletedCheckpoints: 2,
    })
  })

  test('a project with an unfinished rewind is not changed', async () => {
    await using s = await scratch()
    const disk = otherFolder(s, 'disk')
    const folder = otherFolder(s, 'disk/work')
    const first = await withStore(s, async (store) => {
      await saveMany(await store.project(s.project), s, { count: 3 })
      const project = await store.project(folder)
      s.write({ 'noise.txt': 'first' }, folder)
      const { id } = await project.save()
      await saveMany(project, s, { count: 2 })
      return id
    })
    await killedAt(s, 'restore:journaled', { project: folder, run: [['rewind', { to: first }]] })
    renameSync(disk, `${disk}-away`)
    await withStore(s, async (store) => {
      const result = await store.prune({ maxCheckpoints: 1 })
      expect(result.errors).toMatchObject([
        { what: folder, message: 'a rewind of it is unfinished; left for the next prune' },
      ])
      expect(planOf(result, s.project).drop.length).toBe(2)
    })
    renameSync(`${disk}-away`, disk)
    await withStore(s, async (store) => {
      expect(await store.prune({ maxCheckpoints: 1 })).toMatchObject({ errors: [] })
      expect((await idsOf(await store.project(folder))).length).toBe(1)
      expect(await store.verify()).toMatchObject({ problems: [] })
    })
    // I6: when the disk is back, the rewind is finished.
    expect(readFileSync(join(folder, 'noise.txt'), 'utf8')).toBe('first')
  })
})

async function holdLock(path: string): Promise<{ end(): Promise<void> }> {
  const script = `
    import { DatabaseSync } from '@photostructure/sqlite'
    globalThis.database = new DatabaseSync(${JSON.stringify(path)})
    globalThis.database.exec('BEGIN EXCLUSIVE')
    console.log('held'); setInterval(() => undefined, 1000)`
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: 'pipe' })
  await once(child.stdout, 'data')
  return {
    async end() {
      child.kill('SIGKILL')
      await once(child, 'exit')
    },
  }
}

async function killedAt(s: Scratch, failpoint: string, request: object): Promise<void> {
  const text = JSON.stringify({ home: s.home, ...request })
  const env = { ...process.env, SAVESTATE_FAILPOINT: failpoint }
  const child = spawn(process.execPath, [CHILD, text], { env, stdio: 'ignore' })
  const [, signal] = await once(child, 'close')
  expect(signal).toBe('SIGKILL')
}
