// A watched save equals a full scan of the same instant (docs/internals/watching.md): after random edits, every watched save is
// compared with one of a store that watches nothing.
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync, linkSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, test, vi } from 'vitest'
import { waitForStableStamps } from '../capture/capture-helpers.js'
import { type Scratch, scratch } from '../../support/scratch.js'
import { git, perform, plainSeries, series } from './random-edits.js'
import { BURST, type Pair, runBlocking, watchedAndNot } from './watch-helpers.js'

/** More for `npm run torture:watch`. */
const RUNS = Number(process.env['SAVESTATE_WATCH_RUNS'] ?? 15)
const SEED = Number(process.env['SAVESTATE_WATCH_SEED'] ?? 11)
const LONG_MS = 60_000 + RUNS * 2_000
const property = { seed: SEED, numRuns: RUNS, endOnFailure: true }

test.each([
  ['what is captured changes too', series],
  ['everything is captured, and files have several names', plainSeries],
])(
  'after any edits, a watched save equals a full scan: %s',
  async (_, all) => {
    await using s = await scratch()
    await using pair = await watchedAndNot(s, { inProcess: true })
    await fc.assert(
      fc.asyncProperty(all, async (acts) => {
        for (const each of acts) perform(s.project, each)
        expect(await pair.difference()).toBeUndefined()
      }),
      property,
    )
  },
  LONG_MS,
)

test(
  'a watched save equals a full scan for a project inside a larger repository',
  async () => {
    await using s = await scratch({ files: { '.gitignore': 'b\n', 'inner/c/d': '1' } })
    s.git(['init', '-q'])
    const path = join(s.project, 'inner')
    await using pair = await watchedAndNot(s, { inProcess: true, path })
    await fc.assert(
      fc.asyncProperty(series, fc.nat(5), async (all, turn) => {
        for (const each of all) perform(path, each)
        if (turn === 0) s.write({ '.gitignore': `${all.length % 2 === 0 ? 'a' : 'c'}\n` })
        // Git skips repositories without a commit, and complains.
        if (turn === 1) git(s.project, 'add', '-A', '--ignore-errors')
        expect(await pair.difference()).toBeUndefined()
      }),
      { ...property, numRuns: Math.ceil(RUNS / 4) },
    )
  },
  LONG_MS,
)

test(
  'background scans, between and during saves, report no change that had an event',
  async () => {
    await using s = await scratch()
    const { setInterval } = globalThis
    // Every few milliseconds, not every two minutes.
    globalThis.setInterval = ((run: () => void) => setInterval(run, 4)) as typeof setInterval
    await using pair = await watchedAndNot(s, { inProcess: true })
    globalThis.setInterval = setInterval
    await fc.assert(
      fc.asyncProperty(plainSeries, async (all) => {
        for (const each of all) {
          perform(s.project, each)
          if (each.to.turn % 3 === 0) await sleep(each.at.turn % 5)
        }
        expect(await pair.difference()).toBeUndefined()
      }),
      { ...property, numRuns: Math.ceil(RUNS / 2) },
    )
    expect((await pair.watch()).missed).toBe(0)
  },
  LONG_MS,
)

test('a change during a save is in the next save', async () => {
  await using s = await scratch()
  for (let i = 0; i < 300; i++) s.write({ [`f${i % 20}/x${i}`]: String(i) })
  await using pair = await watchedAndNot(s)
  for (let round = 0; round < 5; round++) {
    const saving = pair.watched.save()
    for (let i = 0; i < 40; i++) {
      const file = join(s.project, `f${(round + i) % 20}`, `x${(i * 7) % 300}`)
      writeFileSync(file, `${round} ${i}`)
      if (i % 8 === 0) await new Promise((resolve) => setImmediate(resolve))
      if (i % 13 === 0) renameSync(file, `${file}.moved`)
    }
    await saving
    expect(await pair.difference()).toBeUndefined()
  }
})

const STORM = fileURLToPath(new URL('./watch-storm.mjs', import.meta.url))

test(
  'several processes change the folder during saves',
  async () => {
    await using s = await scratch()
    await using pair = await watchedAndNot(s)
    for (let round = 0; round < Math.ceil(RUNS / 12); round++) {
      const storms = [1, 2, 3].map(async (number) => {
        const seed = SEED * 1000 + round * 10 + number
        const args = [STORM, s.project, String(seed), String(RUNS * 50)]
        await once(spawn(process.execPath, args, { stdio: 'inherit' }), 'exit')
      })
      const over = Promise.all(storms).then(() => true)
      while (!(await Promise.race([over, sleep(5, false)]))) await pair.watched.save()
      expect(await pair.difference()).toBeUndefined()
    }
  },
  LONG_MS,
)

test('50,000 events followed by a rename of everything are saved correctly', async () => {
  await using s = await scratch({ files: { 'a/b/c': '1', 'd/e': '2' } })
  await using pair = await watchedAndNot(s)
  runBlocking(BURST, join(s.project, 'a'), '50000')
  renameSync(join(s.project, 'a'), join(s.project, 'd', 'a'))
  expect(await pair.difference()).toBeUndefined()
  runBlocking(BURST, join(s.project, 'd', 'a'), '50000')
  expect(await pair.difference()).toBeUndefined()
})

const MAPPED_WRITE = `
import mmap, sys
with open(sys.argv[1], 'r+b') as file:
    page = mmap.mmap(file.fileno(), 0)
    page[0:4] = b'page'
    page.flush()
`
const hasPython = spawnSync('python3', ['--version']).status === 0

/** Ways to change a file that give no event. */
const SILENT: Readonly<Record<string, (file: string) => void>> = {
  'a hard link made outside': (file) => {
    linkSync(file, `${file}-outside`.replace('/project/', '/'))
    appendFileSync(`${file}-outside`.replace('/project/', '/'), ' and after')
  },
  ...(hasPython && {
    'a mapped page': (file) =>
      void spawnSync('python3', ['-c', MAPPED_WRITE, file], { stdio: 'inherit' }),
  }),
}

test.each(Object.entries(SILENT))(
  'a change without an event is found by the full scan, counted, and saved next: %s',
  async (_, change) => {
    await using s = await scratch({ files: { file: 'before', c: '1' } })
    // Every save checks a newly written file again.
    await waitForStableStamps()
    await using pair = await watchedAndNot(s)
    change(join(s.project, 'file'))
    // No event: this save cannot know (docs/reference/limits.md).
    expect((await pair.watched.save()).created).toBe(false)
    await pair.watched.internals.lookAtAll()
    expect(await pair.watch()).toMatchObject({ missed: 1, doubt: null, fullScans: 0 })
    expect((await pair.watched.save()).created).toBe(true)
    expect(await pair.difference()).toBeUndefined()
    await pair.watched.internals.lookAtAll()
    expect(await pair.watch()).toMatchObject({ missed: 1, fullScans: 0 })
  },
)

test('the full scan finds a file that was skipped for its content after the content changed', async () => {
  const key = `-----BEGIN RSA PRIVATE KEY-----\n${'MIIEpAIBAAKCAQEA'.repeat(20)}\n-----END RSA PRIVATE KEY-----\n`
  await using s = await scratch({ files: { 'a/file': key, c: '1' } })
  const outside = join(s.folder, 'another-name')
  linkSync(join(s.project, 'a/file'), outside)
  await waitForStableStamps()
  await using pair = await watchedAndNot(s)
  expect((await pair.watched.show('1')).skippedByReason).toEqual({ secret: 1 })
  await pair.watched.internals.lookAtAll()
  expect(await pair.watch()).toMatchObject({ missed: 0 })
  writeFileSync(outside, 'no secret any more')
  await pair.watched.internals.lookAtAll()
  expect(await pair.difference()).toBeUndefined()
  expect(await pair.watch()).toMatchObject({ missed: 1, doubt: null, fullScans: 0 })
})

test('every save checks a file that has another hard link', async () => {
  await using s = await scratch({ files: { 'a/b': 'before', c: '1' } })
  const outside = join(s.folder, 'another-name')
  linkSync(join(s.project, 'a/b'), outside)
  await using pair = await watchedAndNot(s)
  for (const text of ['1', '2', '3']) {
    appendFileSync(outside, text)
    expect(await pair.difference()).toBeUndefined()
  }
  expect(await pair.watch()).toMatchObject({ missed: 0, fullScans: 0 })
})

test('if a parent of the project became a file, the watch reports the error of a scan', async () => {
  await using s = await scratch({ files: { 'outer/inner/a': '1' } })
  await using pair = await watchedAndNot(s, { path: join(s.project, 'outer', 'inner') })
  renameSync(join(s.project, 'outer'), join(s.folder, 'away'))
  s.write({ outer: 'a file' })
  const missing = expect.objectContaining({ code: 'PROJECT_MISSING' })
  for (const project of [pair.plain, pair.watched])
    await expect(project.save()).rejects.toEqual(missing)
  s.write({ outer: null })
  renameSync(join(s.folder, 'away'), join(s.project, 'outer'))
  s.write({ 'outer/inner/a': '2' })
  expect(await pair.difference()).toBeUndefined()
})

test('setting the clock back does not change how long a project has been quiet', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const project = await (await s.open({ inProcess: true })).project(s.project, { watch: true })
  await project.save()
  s.write({ a: '2' })
  await sleep(50)
  const now = Date.now()
  const clock = vi.spyOn(Date, 'now').mockReturnValue(now - 3_600_000)
  const activity = await project.internals.activity()
  clock.mockRestore()
  expect(activity).toMatchObject({ isTouched: true })
  expect(activity?.quietMs).toBeGreaterThanOrEqual(0)
})

test.each<readonly [string, (pair: Pair, s: Scratch) => Promise<unknown>]>([
  ['a diff', ({ watched }) => watched.diff('1')],
  [
    'a save that failed',
    async ({ watched }, s) => {
      s.write({ 'config.json': '{"maxFiles": 1}' }, s.home)
      await expect(watched.save()).rejects.toMatchObject({ code: 'TOO_MANY_FILES' })
      s.write({ 'config.json': null }, s.home)
    },
  ],
])('what was touched still is until a checkpoint holds it: after %s', async (_, look) => {
  await using s = await scratch({ files: { a: '1', b: '1' } })
  await waitForStableStamps()
  await using pair = await watchedAndNot(s)
  expect(await pair.watched.internals.activity()).toMatchObject({ isTouched: false })
  s.write({ a: '2' })
  await look(pair, s)
  expect(await pair.watched.internals.activity()).toMatchObject({ isTouched: true })
  expect(await pair.difference()).toBeUndefined()
  expect(await pair.watched.internals.activity()).toMatchObject({ isTouched: false })
  expect(await pair.watch()).toMatchObject({ doubt: null, fullScans: 0 })
})
