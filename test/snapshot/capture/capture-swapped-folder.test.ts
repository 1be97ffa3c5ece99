// A folder that another process swaps for a link to an outside folder while saves run: no checkpoint contains anything
// from outside (I4).
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs, { existsSync, renameSync, rmSync, symlinkSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { capturedFiles, openProject, saved, storeGit } from './capture-helpers.js'
import { type FileSpec, type Scratch, scratch } from '../../support/scratch.js'

const OUTSIDE = 'content from outside the project'

type Files = Readonly<Record<string, FileSpec>>
type Paths = { readonly dir: string; readonly away: string; readonly link: string }

/** A project with `dir`, and an outside folder with the same names and a few of its own. */
async function withOutside(files: (content: string) => Files): Promise<Scratch & Paths> {
  const s = await scratch({ files: files('own') })
  for (const [path, spec] of Object.entries(files(OUTSIDE)))
    s.write({ [path.replace(/^dir/, 'outside')]: spec }, s.folder)
  s.write({ 'outside/only-outside': OUTSIDE, 'outside/sub/only-outside/x': OUTSIDE }, s.folder)
  const link = join(s.folder, 'link')
  symlinkSync(join(s.folder, 'outside'), link)
  return Object.assign(s, { dir: join(s.project, 'dir'), away: join(s.folder, 'away'), link })
}

function swapIn({ dir, away, link }: Paths): void {
  renameSync(dir, away)
  renameSync(link, dir)
}

function swapBack({ dir, away, link }: Paths): void {
  renameSync(dir, link)
  renameSync(away, dir)
}

/** Saves like a process without cached nodes. Returns the skipped paths. */
async function saveAfresh(s: Scratch): Promise<readonly string[]> {
  rmSync(join(s.home, 'cache'), { recursive: true, force: true })
  const { project, store } = await openProject(s)
  const { skippedPaths } = await saved(project)
  await store.close()
  return skippedPaths.map(({ path }) => path)
}

/** Contents and names from outside that the store contains. Names are in its trees. */
function foundOutside(s: Scratch): string[] {
  const contents = storeGit(s, 'cat-file', '--batch-all-objects', '--batch')
  return [OUTSIDE, 'only-outside'].filter((text) => contents.includes(text))
}

/** The files that a save captures after the swaps. */
async function savedAfterwards(s: Scratch): Promise<string[]> {
  const { project } = await openProject(s)
  return capturedFiles(s, (await saved(project)).ref)
}

const CALLS = [
  'lstatSync',
  'fstatSync',
  'statSync',
  'openSync',
  'readdirSync',
  'readlinkSync',
] as const

/** Calls `act` before each call of node:fs for a path of the project, with its number. */
function beforeEachCall(act: (call: number) => void): Disposable & { readonly count: number } {
  const originals = CALLS.map((name) => [name, fs[name]] as const)
  let count = 0
  const put = (functions: readonly (readonly [string, unknown])[]) => {
    Object.assign(fs, Object.fromEntries(functions))
    syncBuiltinESMExports()
  }
  const counted = (original: unknown) =>
    Object.assign((...args: unknown[]): unknown => {
      if (/^\/proc\/self\/fd\/|\/project(?:\/|$)/.test(String(args[0]))) {
        act(count)
        count += 1
      }
      return Reflect.apply(original as () => unknown, fs, args)
    }, original)
  put(originals.map(([name, original]) => [name, counted(original)]))
  return {
    get count() {
      return count
    },
    [Symbol.dispose]: () => put(originals),
  }
}

test('a folder that is a link during any system calls of a save brings in nothing from outside', async () => {
  const files = (content: string): Files => ({
    'dir/.gitignore': `${content}\n`,
    'dir/file': content,
    'dir/link': { link: content },
    'dir/sub/file': content,
  })
  await using s = await withOutside(files)
  const capture = async (act: (call: number) => void) => {
    rmSync(join(s.home, 'cache'), { recursive: true, force: true })
    const { project, store } = await openProject(s)
    let calls = 0
    {
      using counter = beforeEachCall(act)
      await project.save()
      calls = counter.count
    }
    await store.close()
    return calls
  }
  const calls = await capture(() => undefined)
  for (const length of [1, 3, 8]) {
    for (let start = 0; start < calls; start++) {
      await capture((call) => {
        if (call === start) swapIn(s)
        if (call === start + length) swapBack(s)
      })
      if (existsSync(s.away)) swapBack(s)
    }
  }
  expect(foundOutside(s)).toEqual([])
  expect(await savedAfterwards(s)).toEqual(Object.keys(files('own')).sort())
})

const SWAPPER = `
  const { renameSync, writeSync } = require('node:fs')
  const [dir, away, link] = process.argv.slice(1)
  writeSync(1, 'ready')
  for (;;) {
    renameSync(dir, away)
    renameSync(link, dir)
    renameSync(dir, link)
    renameSync(away, dir)
  }
`

async function startSwapper({ dir, away, link }: Paths): Promise<ChildProcess> {
  const args = ['--eval', SWAPPER, dir, away, link]
  const swapper = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  await once(swapper.stdout, 'data')
  return swapper
}

/** Stops the swapper in any state and restores the folder. */
async function stopSwapper(swapper: ChildProcess, { dir, away, link }: Paths): Promise<void> {
  swapper.kill('SIGKILL')
  await once(swapper, 'exit')
  if (existsSync(away)) {
    if (existsSync(dir)) renameSync(dir, link)
    renameSync(away, dir)
  }
}

test('a process that swaps the folder while hash threads read it brings in nothing from outside', async () => {
  const files = (content: string): Files =>
    Object.fromEntries(
      Array.from({ length: 700 }, (_, i) => [`dir/sub-${i % 5}/${i}.txt`, `${content} ${i}`]),
    )
  await using s = await withOutside(files)
  const swapper = await startSwapper(s)
  try {
    for (let save = 0; save < 8; save++)
      expect((await saveAfresh(s)).join()).not.toContain('only-outside')
  } finally {
    await stopSwapper(swapper, s)
  }
  expect(foundOutside(s)).toEqual([])
  expect(await savedAfterwards(s)).toEqual(Object.keys(files('own')).sort())
})
