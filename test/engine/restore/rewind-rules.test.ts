// A rewind, undo, redo or diff does not depend on the present capture rules (docs/internals/rewind-and-rules.md).
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import type { Project } from '../../../src/index.js'
import { type Database, openDatabase } from '../../../src/system/index.js'
import { type Scratch, scratch } from '../../support/scratch.js'

const SMALL = 100
const LARGE = 'x'.repeat(5 * SMALL)

/** Opens the project with its own size limit, like `--max-file-mb` for one command. */
async function projectWith(s: Scratch, maxFileBytes: number): Promise<Project> {
  return (await s.open({ limits: { maxFileBytes } })).project(s.project)
}

async function projectOf(s: Scratch): Promise<Project> {
  return (await s.open()).project(s.project)
}

function read(s: Scratch, path: string): string {
  return readFileSync(join(s.project, path), 'utf8')
}

function paths(list: readonly { readonly path: string }[]): string[] {
  return list.map(({ path }) => path)
}

function onLedger<T>(s: Scratch, work: (ledger: Database) => T): T {
  const ledger = openDatabase(join(s.home, 'ledger.db'), { timeoutMs: 1000 })
  try {
    return work(ledger)
  } finally {
    ledger.close()
  }
}

function recordedRules(s: Scratch): readonly unknown[] {
  return onLedger(s, (ledger) => ledger.all("SELECT hash FROM details WHERE hash LIKE 'rules-%'"))
}

function commitAll(s: Scratch, ...force: readonly string[]): void {
  s.git(['add', '-A'])
  if (force.length > 0) s.git(['add', '-f', ...force])
  s.git(['commit', '-qm', 'c'])
}

/** On `release` git tracks dist/app.js; on `main`, which is checked out, the folder does not exist. */
async function releasedOnce(s: Scratch, project: Project): Promise<void> {
  s.git(['init', '-q', '-b', 'main'])
  s.write({ 's.txt': 's' })
  commitAll(s)
  s.git(['checkout', '-qb', 'release'])
  s.write({ 'dist/app.js': 'app' })
  commitAll(s, 'dist')
  await project.save({ name: 'release' })
  s.git(['checkout', '-q', 'main'])
  expect(existsSync(join(s.project, 'dist'))).toBe(false)
}

describe('a checkpoint with a file over the present size limit', () => {
  test('the same file is not a conflict', async () => {
    await using s = await scratch({ files: { 'data.bin': LARGE, s: '1' } })
    const { id } = await (await projectWith(s, 10 * SMALL)).save({})
    s.write({ s: '2' })
    const result = await (await projectWith(s, SMALL)).rewind(id)
    expect(paths(result.plan.write)).toEqual(['s'])
    expect([read(s, 's'), read(s, 'data.bin')]).toEqual(['1', LARGE])
  })

  test('a missing file is restored, and undo removes it', async () => {
    await using s = await scratch({ files: { 'data.bin': LARGE, s: '1' } })
    const { id } = await (await projectWith(s, 10 * SMALL)).save({})
    const then = s.snapshotOf()
    s.write({ s: '2', 'data.bin': null })
    const before = s.snapshotOf()
    const project = await projectWith(s, SMALL)
    await project.rewind(id)
    expect(s.snapshotOf()).toEqual(then)
    await project.undo()
    expect(s.snapshotOf()).toEqual(before)
    await project.redo()
    expect(s.snapshotOf()).toEqual(then)
  })

  test('a small version of the file is replaced, and undo restores it', async () => {
    await using s = await scratch({ files: { 'data.bin': LARGE } })
    const { id } = await (await projectWith(s, 10 * SMALL)).save({})
    s.write({ 'data.bin': 'small' })
    const project = await projectWith(s, SMALL)
    await project.rewind(id)
    expect(read(s, 'data.bin')).toBe(LARGE)
    await project.undo()
    expect(read(s, 'data.bin')).toBe('small')
  })

  test('another large version is in the safety checkpoint, and undo restores it', async () => {
    await using s = await scratch({ files: { 'data.bin': LARGE } })
    const { id } = await (await projectWith(s, 10 * SMALL)).save({})
    const other = LARGE.replaceAll('x', 'y')
    s.write({ 'data.bin': other })
    const project = await projectWith(s, SMALL)
    const { safety } = await project.rewind(id)
    expect(read(s, 'data.bin')).toBe(LARGE)
    expect((await project.show(safety ?? '')).sizeBytes).toBe(other.length)
    await project.undo()
    expect(read(s, 'data.bin')).toBe(other)
  })

  test('the same is true in a watched project', async () => {
    await using s = await scratch({ files: { 'data.bin': LARGE, s: '1' } })
    const { id } = await (await projectWith(s, 10 * SMALL)).save({})
    const project = await projectWith(s, SMALL)
    project.watch()
    s.write({ s: '2', 'data.bin': 'small' })
    await project.save({})
    await project.rewind(id)
    expect(read(s, 'data.bin')).toBe(LARGE)
    const saved = await project.save({})
    expect(saved.skippedByReason).toEqual({ 'too-large': 1 })
    await project.undo()
    expect([read(s, 's'), read(s, 'data.bin')]).toEqual(['2', 'small'])
    expect((await project.save({})).created).toBe(false)
  })
})

describe('a checkpoint with files that are ignored now', () => {
  test('diff does not report an existing file as deleted, and undo removes the restored files', async () => {
    await using s = await scratch()
    const project = await projectOf(s)
    await releasedOnce(s, project)
    const before = s.snapshotOf(s.project, { except: ['.git'] })
    await project.rewind('release')
    expect(read(s, 'dist/app.js')).toBe('app')
    expect((await project.diff('release')).changes).toEqual([])
    s.write({ 'dist/app.js': 'changed' })
    const changes = (await project.diff('release')).changes
    expect(changes.map(({ path, change }) => [path, change])).toEqual([['dist/app.js', 'modified']])
    s.write({ 'dist/app.js': 'app' })
    const undone = await project.undo()
    expect(paths(undone.plan.remove).sort()).toEqual(['dist', 'dist/app.js'])
    expect(s.snapshotOf(s.project, { except: ['.git'] })).toEqual(before)
  })

  test('other files in the folder stay, and undo lists them', async () => {
    await using s = await scratch()
    const project = await projectOf(s)
    await releasedOnce(s, project)
    await project.rewind('release')
    s.write({ 'dist/other.js': 'mine' })
    const undone = await project.undo()
    expect(paths(undone.plan.remove)).toEqual(['dist/app.js'])
    expect(paths(undone.plan.keep)).toEqual(['dist'])
    expect(read(s, 'dist/other.js')).toBe('mine')
  })

  test('an untracked version of a tracked file is replaced, and undo restores it', async () => {
    await using s = await scratch()
    const project = await projectOf(s)
    await releasedOnce(s, project)
    s.write({ 'dist/app.js': 'built on main', 'dist/other.js': 'mine' })
    const before = s.snapshotOf(s.project, { except: ['.git'] })
    await project.rewind('release')
    expect(read(s, 'dist/app.js')).toBe('app')
    await project.undo()
    expect(s.snapshotOf(s.project, { except: ['.git'] })).toEqual(before)
  })

  test('with --path, only the named paths are examined', async () => {
    await using s = await scratch()
    const project = await projectOf(s)
    await releasedOnce(s, project)
    s.write({ 'dist/app.js': 'built on main', 's.txt': 'work' })
    const { safety } = await project.rewind('release', { paths: ['s.txt'] })
    expect([read(s, 's.txt'), read(s, 'dist/app.js')]).toEqual(['s', 'built on main'])
    expect((await project.show(safety ?? '')).fileCount).toBe(1)
    await project.undo()
    await project.rewind('release', { paths: ['dist'] })
    expect([read(s, 's.txt'), read(s, 'dist/app.js')]).toEqual(['work', 'app'])
    await project.undo()
    expect([read(s, 's.txt'), read(s, 'dist/app.js')]).toEqual(['work', 'built on main'])
  })

  test('an empty ignored folder from before the rewind exists after the undo', async () => {
    await using s = await scratch()
    const project = await projectOf(s)
    await releasedOnce(s, project)
    s.write({ dist: { folder: 0o755 } })
    const before = s.snapshotOf(s.project, { except: ['.git'] })
    await project.rewind('release', { paths: ['dist/app.js'] })
    expect(read(s, 'dist/app.js')).toBe('app')
    await project.undo()
    expect(s.snapshotOf(s.project, { except: ['.git'] })).toEqual(before)
  })

  test('an ignored folder with files is not replaced by a file', async () => {
    await using s = await scratch({
      files: { out: 'a file', 's.txt': '1', '.savestateignore': '!out' },
    })
    const project = await projectOf(s)
    const { id } = await project.save({})
    s.write({ out: null, '.savestateignore': null })
    s.write({ 'out/mine': 'uncaptured' })
    await expect(project.rewind(id)).rejects.toMatchObject({ code: 'REWIND_CONFLICT' })
    expect(read(s, 'out/mine')).toBe('uncaptured')
  })
})

test('a secret is in the safety checkpoint only if the target contains the same path', async () => {
  await using s = await scratch({ files: { '.env': 'KEY=1', 's.txt': '1' } })
  const allowing = await (await s.open({ limits: { allowSecrets: ['.env'] } })).project(s.project)
  const { id } = await allowing.save({})
  s.write({ '.env': 'KEY=2', '.env.local': 'KEY=3', 's.txt': '2' })
  const project = await projectOf(s)
  const { safety } = await project.rewind(id)
  expect(read(s, '.env')).toBe('KEY=1')
  const { fileCount, skippedPaths } = await project.show(safety ?? '')
  expect({ fileCount, skipped: paths(skippedPaths) }).toEqual({
    fileCount: 2,
    skipped: ['.env.local'],
  })
  await project.undo()
  expect([read(s, '.env'), read(s, '.env.local')]).toEqual(['KEY=2', 'KEY=3'])
})

describe('undo right after a rewind', () => {
  test('is not refused because of a file that the rewind did not change', async () => {
    await using s = await scratch({
      files: { '.gitignore': '*.db', 'app.db': 'rows 1', 's.js': 'good' },
    })
    s.git(['init', '-q'])
    const project = await projectOf(s)
    const { id } = await project.save({})
    s.write({ '.gitignore': '', 's.js': 'work' })
    await project.rewind(id)
    s.write({ 'app.db': 'rows 1 2' })
    await project.undo()
    expect([read(s, 's.js'), read(s, 'app.db')]).toEqual(['work', 'rows 1 2'])
  })

  test('does not recreate files that the user removed since', async () => {
    await using s = await scratch({
      files: { '.gitignore': '*.db', 'app.db': 'rows 1', 's.js': 'good' },
    })
    s.git(['init', '-q'])
    const project = await projectOf(s)
    const { id } = await project.save({})
    s.write({ '.gitignore': '', 's.js': 'work' })
    await project.rewind(id)
    s.write({ 'app.db': null })
    await project.undo()
    expect(read(s, 's.js')).toBe('work')
    expect(existsSync(join(s.project, 'app.db'))).toBe(false)
  })

  test('keeps files that became capturable because the rewind restored an ignore file', async () => {
    await using s = await scratch({ files: { 's.js': 'good' } })
    s.git(['init', '-q'])
    const project = await projectOf(s)
    const { id } = await project.save({})
    s.write({ '.gitignore': 'data/', 's.js': 'work', 'data/a': '1', 'data/deep/b': '2' })
    const before = s.snapshotOf(s.project, { except: ['.git'] })
    await project.rewind(id)
    expect(read(s, 'data/deep/b')).toBe('2')
    await project.undo()
    expect(s.snapshotOf(s.project, { except: ['.git'] })).toEqual(before)
  })
})

describe('files that the checkpoint left out by a rule outside the snapshot', () => {
  const MANY = 1200

  async function many(s: Scratch, project: Project): Promise<string> {
    s.write(
      Object.fromEntries(Array.from({ length: MANY }, (_, n) => [`pkg/data-${n}.dat`, `${n}`])),
    )
    s.write({ 'pkg/s.txt': '1' })
    const { id, skippedByReason } = await project.save({})
    expect(skippedByReason.ignored).toBe(MANY)
    s.write({ 'pkg/s.txt': '2' })
    return id
  }

  async function removedAndKept(project: Project, id: string): Promise<readonly number[]> {
    const { plan } = await project.rewind(id)
    return [plan.remove.length, plan.keep.length]
  }

  test('more than 1,000 files that info/exclude excluded stay after the rule is gone', async () => {
    await using s = await scratch()
    s.git(['init', '-q'])
    const exclude = join(s.project, '.git/info/exclude')
    writeFileSync(exclude, '*.dat\n')
    const project = await projectOf(s)
    const id = await many(s, project)
    rmSync(exclude)
    expect(await removedAndKept(project, id)).toEqual([0, MANY])
    expect(read(s, 'pkg/data-1199.dat')).toBe('1199')
  })

  test('files that a .gitignore above the project excluded stay too', async () => {
    await using s = await scratch()
    s.git(['init', '-q'])
    writeFileSync(join(s.project, '.gitignore'), 'pkg/*.dat\n')
    s.write({ 'pkg/s.txt': '' })
    const store = await s.open()
    const project = await store.project(join(s.project, 'pkg'))
    const id = await many(s, project)
    rmSync(join(s.project, '.gitignore'))
    expect(await removedAndKept(project, id)).toEqual([0, MANY])
  })

  test('a checkpoint whose rules were lost is treated like one that recorded none', async () => {
    await using s = await scratch({ files: { s: '1' } })
    const project = await projectOf(s)
    const { id } = await project.save({})
    s.write({ s: '2' })
    expect(
      onLedger(s, (ledger) => ledger.run("DELETE FROM details WHERE hash LIKE 'rules-%'")),
    ).toMatchObject({ changes: 1 })
    await project.rewind(id)
    expect(read(s, 's')).toBe('1')
  })

  test('the rules are stored once, and a prune removes them with their last checkpoint', async () => {
    await using s = await scratch()
    s.git(['init', '-q'])
    writeFileSync(join(s.project, '.git/info/exclude'), '*.dat\n')
    const store = await s.open()
    const project = await store.project(s.project)
    const rules = () => recordedRules(s)
    for (const n of ['1', '2', '3']) {
      s.write({ s: n })
      await project.save({})
    }
    expect(rules()).toHaveLength(1)
    writeFileSync(join(s.project, '.git/info/exclude'), '*.log\n')
    s.write({ s: '4' })
    const { id } = await project.save({})
    expect(rules()).toHaveLength(2)
    const others = (await project.list()).filter((one) => one.id !== id)
    await project.drop(others.map((one) => one.id))
    await store.prune({})
    expect(rules()).toHaveLength(1)
    expect((await store.verify({})).problems).toEqual([])
  })
})
