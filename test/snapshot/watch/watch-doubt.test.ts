// Forces every doubt of docs/internals/watching.md: the save does a correct full scan, `status` gives the reason, and the next save is
// fast again. watch-system.test.ts has the doubts that only the system can cause.
import fs, { mkdirSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { waitForStableStamps } from '../capture/capture-helpers.js'
import { scratch } from '../../support/scratch.js'
import { BURST, type Pair, runBlocking, watchedAndNot } from './watch-helpers.js'

/** The `status` after `force`, and the number of full scans in the saves after it. */
async function doubtAfter(pair: Pair, force: () => void): Promise<object> {
  await pair.difference()
  const before = await pair.watch()
  force()
  const differences = [await pair.difference()]
  const { doubt, fullScans, isWatching } = await pair.watch()
  for (let i = 0; i < 3; i++) {
    writeFileSync(join(pair.watched.path, 'after'), `${doubt} ${i}`)
    differences.push(await pair.difference())
  }
  return {
    doubt,
    isWatching,
    fullScans: fullScans - before.fullScans,
    later: (await pair.watch()).fullScans - fullScans,
    differences: differences.filter((each) => each !== undefined),
  }
}

const once = (doubt: string) => ({
  doubt,
  isWatching: true,
  fullScans: 1,
  later: 0,
  differences: [],
})

const FILES = { a: '1', 'b/c': '2', 'b/d/e': '3', 'f/g/h/i': '4' }

test.each([
  ['half the queue at once', 9_000],
  ['more than the kernel keeps, which throws the rest away', 50_000],
])('overflow: %s', async (_, events) => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  expect(await doubtAfter(pair, () => runBlocking(BURST, s.project, String(events)))).toEqual(
    once('overflow'),
  )
})

test('any number of events is no overflow if the thread keeps up', async () => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  for (let i = 0; i < 4; i++) {
    runBlocking(BURST, s.project, '5000')
    expect(await pair.difference()).toBeUndefined()
  }
  expect((await pair.watch()).fullScans).toBe(0)
})

function cookieFolder({ home }: { readonly home: string }): string {
  const [name = ''] = readdirSync(join(home, 'watches'))
  return join(home, 'watches', name)
}

test('no cookie: its folder was removed', async () => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  expect(
    await doubtAfter(pair, () => {
      rmSync(cookieFolder(s), { recursive: true })
      s.write({ 'b/c': 'changed' })
    }),
  ).toEqual(once('no-cookie'))
})

test('no cookie: none can be made', async () => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  expect(await pair.difference()).toBeUndefined()
  const folder = cookieFolder(s)
  rmSync(folder, { recursive: true })
  writeFileSync(folder, 'in its place')
  for (const content of ['5', '6']) {
    s.write({ 'b/c': content })
    expect(await pair.difference()).toBeUndefined()
  }
  rmSync(folder)
  s.write({ 'b/c': '7' })
  expect(await pair.difference()).toBeUndefined()
  const { fullScans, doubt } = await pair.watch()
  expect(doubt).toBe('no-cookie')
  s.write({ 'b/c': '8' })
  expect(await pair.difference()).toBeUndefined()
  expect((await pair.watch()).fullScans).toBe(fullScans)
})

test('a cookie that is late because the thread was blocked still counts', async () => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  expect(await pair.difference()).toBeUndefined()
  for (let i = 0; i < 5; i++) {
    s.write({ a: String(i) })
    const saving = pair.watched.save()
    // Blocks until the cookie exists, and then for longer than the timeout.
    for (let turn = 0; turn <= i; turn++) await new Promise((resolve) => setImmediate(resolve))
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300)
    await saving
  }
  expect((await pair.watch()).fullScans).toBe(0)
  expect(await pair.difference()).toBeUndefined()
})

test('lost watch: the folder was moved away and back', async () => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  expect(
    await doubtAfter(pair, () => {
      renameSync(s.project, `${s.project}-away`)
      writeFileSync(join(`${s.project}-away`, 'a'), 'changed while away')
      renameSync(`${s.project}-away`, s.project)
    }),
  ).toEqual(once('lost-watch'))
})

test('lost watch: the folder was removed and recreated, even with the same inode', async () => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  expect(
    await doubtAfter(pair, () => {
      const { ino } = statSync(s.project)
      for (let tries = 0; tries < 50; tries++) {
        rmSync(s.project, { recursive: true })
        mkdirSync(s.project)
        if (statSync(s.project).ino === ino) break
      }
      s.write({ a: 'another', 'b/c': '2' })
    }),
  ).toEqual(once('lost-watch'))
})

test('folder replaced: the path leads to another folder, without an event of the watched one', async () => {
  await using s = await scratch({ files: FILES })
  const path = join(s.project, 'outer', 'inner')
  s.write(FILES, path)
  await using pair = await watchedAndNot(s, { inProcess: true, path })
  expect(
    await doubtAfter(pair, () => {
      renameSync(join(s.project, 'outer'), join(s.project, 'outer-before'))
      s.write({ ...FILES, 'b/c': 'another' }, path)
    }),
  ).toEqual(once('folder-replaced'))
})

test('folder replaced by one with its inode, after it was watched under another name', async () => {
  await using s = await scratch({ files: FILES })
  const store = await s.open({ inProcess: true })
  await (await store.project(s.project, { watch: true })).save()
  const path = `${s.project}-renamed`
  renameSync(s.project, path)
  const project = await store.project(path, { watch: true })
  await project.save()
  const { ino } = statSync(path)
  rmSync(path, { recursive: true })
  // The kernel releases a watched inode with a delay. Any of these folders can get it.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 20)
  const made = Array.from({ length: 100 }, (_, i) => join(s.folder, `made-${i}`))
  for (const each of made) mkdirSync(each)
  renameSync(made.find((each) => statSync(each).ino === ino) ?? made[0] ?? '', path)
  s.write(FILES, path)
  await waitForStableStamps()
  await project.save()
  s.write({ a: 'changed' }, path)
  expect((await project.save()).created).toBe(true)
})

test('folder replaced between the watch and the scan: no mixture is saved', async () => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  expect(await pair.difference()).toBeUndefined()
  const other = join(s.folder, 'other')
  s.write({ ...FILES, 'b/c': 'of another folder', a: 'too' }, other)
  const { lstatSync } = fs
  let isSwapped = false
  const swapping = (...args: Parameters<typeof lstatSync>) => {
    const stats = lstatSync(...args)
    // The watch is the first to stat the project's folder in a capture.
    if (!isSwapped && args[1]?.bigint === true && String(args[0]) === s.project) {
      isSwapped = true
      renameSync(s.project, `${s.project}-before`)
      renameSync(other, s.project)
    }
    return stats
  }
  Object.assign(fs, { lstatSync: swapping })
  syncBuiltinESMExports()
  try {
    await expect(pair.watched.save()).rejects.toMatchObject({ code: 'PROJECT_MISSING' })
  } finally {
    Object.assign(fs, { lstatSync })
    syncBuiltinESMExports()
  }
  expect(isSwapped).toBe(true)
  expect(await pair.difference()).toBeUndefined()
})

test('a removed folder cannot be saved; once it is back, it can', async () => {
  await using s = await scratch({ files: FILES })
  await using pair = await watchedAndNot(s, { inProcess: true })
  expect(await pair.difference()).toBeUndefined()
  renameSync(s.project, `${s.project}-away`)
  await expect(pair.watched.save()).rejects.toMatchObject({ code: 'PROJECT_MISSING' })
  mkdirSync(s.project)
  s.write({ a: 'new' })
  expect(await pair.difference()).toBeUndefined()
  rmSync(s.project, { recursive: true })
  renameSync(`${s.project}-away`, s.project)
  expect(await pair.difference()).toBeUndefined()
  s.write({ 'b/c': 'changed' })
  expect(await pair.difference()).toBeUndefined()
})
