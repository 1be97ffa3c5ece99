// The stat cache only saves time: every change is detected, even a well-hidden one.
import { type ChildProcess, spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { tries } from '../../../support/test-budget.js'
import {
  capturedFiles,
  inChild,
  openProject,
  saved,
  waitForStableStamps,
  skippedFor,
  storedBytes,
  storedTree,
  storeGit,
} from '../capture-helpers.js'
import { type Scratch, scratch } from '../../../support/scratch.js'

test('an unchanged file is not read again, in the same process or the next', async () => {
  await using s = await scratch()
  for (let i = 0; i < 200; i++) s.write({ [`sub/${i % 10}/file-${i}`]: `${i}\n`.repeat(25_000) })
  const bytes = [...s.snapshotOf().keys()].reduce(
    (sum, path) => sum + (statSync(join(s.project, path)).isFile() ? sizeOf(s, path) : 0),
    0,
  )
  expect(bytes).toBeGreaterThan(15_000_000)
  await waitForStableStamps()
  // Counts every byte that the process and its threads read, from any file.
  const script = `
    const read = () => Number(/rchar: (\\d+)/.exec(fs.readFileSync('/proc/self/io', 'utf8'))[1])
    const counted = async (work) => {
      const before = read()
      const { created } = await work()
      return { created, bytes: read() - before }
    }
    return [await counted(() => project.save()), await counted(() => project.save())]
  `
  type Counted = { created: boolean; bytes: number }
  const [first, again] = (await inChild(s, script)) as Counted[]
  const [next] = (await inChild(s, script)) as Counted[]
  expect([first?.created, again?.created, next?.created]).toEqual([true, false, false])
  expect(first?.bytes).toBeGreaterThan(bytes)
  expect(again?.bytes).toBeLessThan(bytes / 20)
  // The next process also reads the cache and its own program.
  expect(next?.bytes).toBeLessThan(bytes / 4)
})

test('an immediate change of the same size after a save is detected', async () => {
  await using s = await scratch({ files: { file: 'aaaa', other: 'x' } })
  const path = join(s.project, 'file')
  const { project } = await openProject(s)
  await project.save()
  const missed: number[] = []
  for (let i = 0; i < tries(100, 15); i++) {
    const { mtimeNs } = lstatSync(path, { bigint: true })
    writeFileSync(path, String(1000 + i))
    // Half of them also restore the mtime.
    if (i % 2 === 0) utimesSync(path, Number(mtimeNs) / 1e9, Number(mtimeNs) / 1e9)
    if (!(await project.save()).created) missed.push(i)
  }
  expect(missed).toEqual([])
})

test('a file written during a save is right in that save or the next', async () => {
  await using s = await scratch({ files: { file: '0000' } })
  const path = join(s.project, 'file')
  const { project } = await openProject(s, { inProcess: false })
  for (let i = 0; i < tries(60, 8); i++) {
    writeFileSync(path, String(1000 + i))
    const saving = project.save()
    if (i % 3 === 0) await sleep(i % 7)
    writeFileSync(path, String(2000 + i))
    await saving
    const { ref } = await saved(project)
    expect(storedBytes(s, ref, 'file').toString()).toBe(String(2000 + i))
  }
})

test('a change that restores the mtime is detected', async () => {
  await using s = await scratch({ files: { file: 'before' } })
  const path = join(s.project, 'file')
  utimesSync(path, 1_500_000_000, 1_500_000_000)
  const { project } = await openProject(s)
  await project.save()
  await waitForStableStamps()
  await project.save()
  writeFileSync(path, 'after!')
  utimesSync(path, 1_500_000_000, 1_500_000_000)
  const { created, ref } = await saved(project)
  expect([created, storedBytes(s, ref, 'file').toString()]).toEqual([true, 'after!'])
})

test('a rename over a file, with the same size and mtime, is detected', async () => {
  await using s = await scratch({ files: { 'sub/file': 'before' } })
  utimesSync(join(s.project, 'sub/file'), 1_500_000_000, 1_500_000_000)
  writeFileSync(join(s.folder, 'replacement'), 'after!')
  utimesSync(join(s.folder, 'replacement'), 1_500_000_000, 1_500_000_000)
  await waitForStableStamps()
  const { project } = await openProject(s)
  await project.save()
  renameSync(join(s.folder, 'replacement'), join(s.project, 'sub/file'))
  const { created, ref } = await saved(project)
  expect([created, storedBytes(s, ref, 'sub/file').toString()]).toEqual([true, 'after!'])
})

test('two files that swap names are detected', async () => {
  await using s = await scratch({ files: { a: 'one', b: 'two' } })
  for (const name of ['a', 'b']) utimesSync(join(s.project, name), 1_500_000_000, 1_500_000_000)
  await waitForStableStamps()
  const { project } = await openProject(s)
  await project.save()
  await waitForStableStamps()
  renameSync(join(s.project, 'a'), join(s.project, 'c'))
  renameSync(join(s.project, 'b'), join(s.project, 'a'))
  renameSync(join(s.project, 'c'), join(s.project, 'b'))
  const { ref } = await saved(project)
  expect(['a', 'b'].map((name) => storedBytes(s, ref, name).toString())).toEqual(['two', 'one'])
})

test('added and removed files and folders are detected', async () => {
  await using s = await scratch({ files: { 'a/b/c': 'x', 'a/d': 'x', 'e/f': 'x' } })
  const { project } = await openProject(s)
  const steps: [() => void, string[]][] = [
    [() => undefined, ['a/b/c', 'a/d', 'e/f']],
    [() => s.write({ 'a/b/new': 'x' }), ['a/b/c', 'a/b/new', 'a/d', 'e/f']],
    [() => s.write({ 'a/b/c': null }), ['a/b/new', 'a/d', 'e/f']],
    [() => s.write({ 'a/b': null }), ['a/d', 'e/f']],
    [() => renameSync(join(s.project, 'e'), join(s.project, 'a/e')), ['a/d', 'a/e/f']],
    [() => s.write({ 'a/e/f': null, 'a/e/f/g': 'x' }), ['a/d', 'a/e/f/g']],
  ]
  for (const [step, files] of steps) {
    step()
    expect(capturedFiles(s, (await saved(project)).ref)).toEqual(files)
    await waitForStableStamps()
    expect((await project.save()).created).toBe(false)
  }
})

test('touching a file or folder without changing it makes no checkpoint', async () => {
  await using s = await scratch({ files: { 'sub/a': 'x', b: 'y', link: { link: 'b' } } })
  const { project } = await openProject(s)
  await project.save()
  await waitForStableStamps()
  const now = new Date()
  for (const path of ['sub', 'sub/a', 'b', '']) utimesSync(join(s.project, path), now, now)
  s.write({ 'sub/passing': 'x' })
  s.write({ 'sub/passing': null, b: 'y', link: { link: 'b' } })
  expect((await project.save()).created).toBe(false)
})

test('with thousands of paths and several stat threads, every change is detected', async () => {
  await using s = await scratch()
  for (let i = 0; i < 2100; i++) s.write({ [`d${i % 50}/e${i % 7}/f${i}`]: `content ${i}` })
  const { store, project } = await openProject(s, { inProcess: false })
  await project.save()
  // The node table is created shortly after a save.
  await sleep(400)
  await project.save()
  await sleep(400)
  const path = (i: number) => `d${i % 50}/e${i % 7}/f${i}`
  const at = (i: number) => join(s.project, path(i))
  const changes: (() => void)[] = [
    () => s.write({ [path(1)]: 'content X' }),
    () => s.write({ [path(2099)]: 'content 209X' }),
    () => s.write({ [path(2)]: null, [path(2098)]: null }),
    () => s.write({ 'd0/new': 'x', 'd49/e6/new': 'x', 'zz/new': 'x' }),
    () => chmodSync(at(3), 0o600),
    () => chmodSync(at(2097), 0o755),
    () => chmodSync(join(s.project, 'd49/e6'), 0o700),
    () => renameSync(at(4), at(5)),
    () => renameSync(join(s.project, 'd10'), join(s.project, 'd11/moved')),
    () => s.write({ [path(2096)]: { link: 'elsewhere' } }),
    () => s.write({ d20: null, 'd20/e0/f20': 'another content' }),
    () => s.write({ '.gitignore': 'e3/\n' }),
    () => s.write({ '.gitignore': null }),
  ]
  for (const [i, change] of changes.entries()) {
    change()
    const { created, ref } = await saved(project)
    expect([i, created]).toEqual([i, true])
    const ignored = i === 11 ? /(^|\/)e3(\/|$)/ : undefined
    expect(storedIds(s, ref), `change ${i}`).toEqual(actualIds(s, ignored))
    if (i % 3 === 0) await sleep(400)
    expect((await project.save()).created).toBe(false)
  }
  await store.close()
  s.write({ [path(2095)]: 'content 209Y' })
  const again = await openProject(s)
  expect(storedIds(s, (await saved(again.project)).ref)).toEqual(actualIds(s))
})

const DAMAGES: [string, (path: string) => void][] = [
  ['gone', (path) => rmSync(path)],
  ['empty', (path) => writeFileSync(path, '')],
  ['cut off', (path) => writeFileSync(path, readFileSync(path).subarray(0, -30))],
  ['longer', (path) => writeFileSync(path, Buffer.concat([readFileSync(path), Buffer.alloc(9)]))],
  [
    'of another version',
    (path) => changeBytes(path, (bytes) => bytes.write('savestate-cache-9\n')),
  ],
  ['noise', (path) => writeFileSync(path, Buffer.alloc(5000, 'noise'))],
  ['a folder', (path) => (rmSync(path), mkdirSync(path))],
]

test.each(DAMAGES)('a cache that is %s only costs time', async (_, damage) => {
  await using s = await scratch({ files: { a: 'x', 'sub/b': 'y', 'sub/c.log': 'z' } })
  worthACache(s)
  const first = await openProject(s)
  const before = await saved(first.project)
  await first.store.close()
  await waitForStableStamps()
  damage(cacheOf(s))
  const again = await openProject(s)
  expect((await again.project.save()).created).toBe(false)
  s.write({ 'sub/b': 'changed' })
  const after = await saved(again.project)
  expect(capturedFiles(s, after.ref)).toEqual(capturedFiles(s, before.ref))
  expect(storedBytes(s, after.ref, 'sub/b').toString()).toBe('changed')
  expect(after.skippedByReason).toEqual(before.skippedByReason)
})

test('no flipped bit in the cache changes a save', async () => {
  await using s = await scratch({ files: { a: 'x', 'sub/b': 'y' } })
  worthACache(s)
  const first = await openProject(s)
  const { tree } = await saved(first.project)
  await first.store.close()
  await waitForStableStamps()
  const cache = cacheOf(s)
  const whole = readFileSync(cache)
  for (let at = 0; at < whole.length; at += Math.ceil(whole.length / tries(48, 6))) {
    writeFileSync(cache, whole)
    changeBytes(cache, (bytes) => {
      bytes[at] = (bytes[at] ?? 0) ^ (1 << (at % 8))
    })
    const again = await openProject(s)
    expect((await saved(again.project)).tree, `byte ${at}`).toBe(tree)
    await again.store.close()
  }
})

test('the cache of a replaced folder is not used', async () => {
  await using s = await scratch({ files: { a: 'x', 'sub/b': 'y' } })
  const { project } = await openProject(s)
  await project.save()
  await waitForStableStamps()
  renameSync(s.project, join(s.folder, 'elsewhere'))
  mkdirSync(s.project)
  s.write({ 'sub/b': 'another', c: 'new' })
  const { ref } = await saved(project)
  expect(capturedFiles(s, ref)).toEqual(['c', 'sub/b'])
  expect(storedBytes(s, ref, 'sub/b').toString()).toBe('another')
})

test('a growing file is listed as unstable or captured consistently', async () => {
  await using s = await scratch({ files: { quiet: 'x' } })
  const path = join(s.project, 'growing')
  writeFileSync(path, '')
  await using _ = running(`
    const fs = require('node:fs')
    const fd = fs.openSync(${JSON.stringify(path)}, 'a')
    for (let i = 0; i < 9e5; i += 100) {
      let lines = ''
      for (let j = i; j < i + 100; j++) lines += String(j).padStart(9, '0') + '\\n'
      fs.writeSync(fd, lines)
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 0.2)
    }
  `)
  const { project } = await openProject(s)
  for (let i = 0; i < 15; i++) {
    const details = await saved(project)
    const isUnstable = skippedFor(details, 'unstable').includes('growing')
    expect([...storedTree(s, details.ref).keys()]).toEqual(
      isUnstable ? ['quiet'] : ['growing', 'quiet'],
    )
    // Lines 0, 1, 2 … from the start, without gaps or other text.
    const content = isUnstable ? '' : storedBytes(s, details.ref, 'growing').toString()
    const expected = Array.from({ length: content.length / 10 + 1 }, (_, line) =>
      String(line).padStart(9, '0'),
    )
    expect(`${expected.join('\n')}\n`.startsWith(content)).toBe(true)
  }
})

test('the next save stores an object again that a diff stored and a collection removed', async () => {
  await using s = await scratch({ files: { a: 'one', 'sub/b': 'one', 'sub/deep/c': 'one' } })
  const { project } = await openProject(s)
  const first = await project.save()
  await waitForStableStamps()
  s.write({ a: 'two', 'sub/b': 'two', 'sub/new': 'two' })
  await waitForStableStamps()
  await project.diff(first.id)
  storeGit(s, 'prune', '--expire=now')
  const { created, ref } = await saved(project)
  expect(created).toBe(true)
  expect(s.fsck()).toBe('')
  for (const path of ['a', 'sub/b', 'sub/new'])
    expect(storedBytes(s, ref, path).toString()).toBe('two')
})

test('the same holds with the cache of another process', async () => {
  await using s = await scratch({ files: { a: 'one', 'sub/b': 'one' } })
  const first = await openProject(s)
  const { id } = await first.project.save()
  s.write({ a: 'two', 'sub/b': 'two' })
  await waitForStableStamps()
  await first.project.diff(id)
  await first.store.close()
  storeGit(s, 'prune', '--expire=now')
  const again = await openProject(s)
  const { ref } = await saved(again.project)
  expect(s.fsck()).toBe('')
  expect(storedBytes(s, ref, 'sub/b').toString()).toBe('two')
})

test('objects of a checkpoint whose ref was dropped and collected are stored again', async () => {
  await using s = await scratch({ files: { a: 'one', b: 'one' } })
  const { project } = await openProject(s)
  const first = await saved(project)
  s.write({ a: 'two' })
  await waitForStableStamps()
  const second = await saved(project)
  // Drop the oldest, as a prune does: objects that only it kept are collected.
  storeGit(s, 'update-ref', '-d', first.ref)
  storeGit(s, 'prune', '--expire=now')
  s.write({ a: 'one' })
  const third = await saved(project)
  expect(storedBytes(s, third.ref, 'a').toString()).toBe('one')
  expect(third.tree).toBe(first.tree)
  expect(second.tree).not.toBe(first.tree)
  expect(s.fsck()).toBe('')
})

/** Blob and mode of every file and link in the checkpoint. */
function storedIds(s: Scratch, ref: string): Map<string, string> {
  const stored = [...storedTree(s, ref)].filter(([, { type }]) => type !== 'folder')
  return new Map(
    stored.map(([path, { type, id }]): [string, string] => [path, `${type} ${id}`]).sort(byFirst),
  )
}

/** The same, read from every file. */
function actualIds(s: Scratch, ignored?: RegExp): Map<string, string> {
  const ids: string[][] = []
  for (const [path, { type, mode, content }] of s.snapshotOf()) {
    if (type === 'folder' || ignored?.test(path) === true) continue
    const bytes = type === 'link' ? Buffer.from(content) : readFileSync(join(s.project, path))
    const id = createHash('sha1').update(`blob ${bytes.length}\0`).update(bytes).digest('hex')
    const kind = type === 'link' ? 'link' : (mode & 0o100) === 0 ? 'file' : 'executable'
    ids.push([path, `${kind} ${id}`])
  }
  return new Map(ids.sort(byFirst).map(([path = '', id = '']) => [path, id]))
}

function byFirst(a: readonly string[], b: readonly string[]): number {
  return (a[0] ?? '') < (b[0] ?? '') ? -1 : 1
}

test('a cache never depends on a checkpoint that is about to be pruned, even with small saves', async () => {
  await using s = await scratch()
  worthACache(s)
  await waitForStableStamps()
  const trees: string[] = []
  for (let i = 0; i < 30; i++) {
    s.write({ 'many/file-7': `edit ${i}` })
    // Like a new process: a newly opened store knows only what is on disk.
    const { store, project } = await openProject(s)
    trees.push((await saved(project)).tree ?? '')
    await store.close()
  }
  const text = readFileSync(cacheOf(s), 'latin1')
  const keptBy = /"keptBy":"([0-9a-f]{40})"/.exec(text)?.[1]
  expect(trees.indexOf(String(keptBy))).toBeGreaterThan(30 - 20)
})

function sizeOf(s: Scratch, path: string): number {
  return statSync(join(s.project, path)).size
}

/** No cache is written for a few files. */
function worthACache(s: Scratch): void {
  for (let i = 0; i < 150; i++) s.write({ [`many/file-${i}`]: `content ${i}` })
}

function cacheOf(s: Scratch): string {
  const folder = join(s.home, 'cache')
  const [name] = existsSync(folder) ? readdirSync(folder) : []
  expect(name, 'the cache of the one project').toBeDefined()
  return join(folder, name ?? '')
}

function changeBytes(path: string, change: (bytes: Buffer) => void): void {
  const bytes = readFileSync(path)
  change(bytes)
  writeFileSync(path, bytes)
}

/** A program that writes concurrently until it is disposed. */
function running(script: string): AsyncDisposable {
  const child: ChildProcess = spawn(process.execPath, ['-e', script], { stdio: 'inherit' })
  const ended = new Promise((resolve) => child.on('close', resolve))
  return {
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}
