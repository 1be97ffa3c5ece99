// A watch with other processes: rewinds in a watched project, concurrent processes, and processes that die.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Project } from '../../../src/index.js'
import { setStore } from '../../engine/prune/prune-helpers.js'
import { type Scratch, scratch, sdk } from '../../support/scratch.js'
import { perform, plainSeries } from './random-edits.js'
import { watchedAndNot } from './watch-helpers.js'

const INDEX = new URL('../../../dist/index.js', import.meta.url).href
const CLI = fileURLToPath(new URL('../../../dist/cli/bin.js', import.meta.url))

/** A deterministic series of edits. */
function someActs(count: number, seed: number) {
  return fc.sample(plainSeries, { numRuns: count, seed })
}

async function diffOf(project: Project, from: string): Promise<object> {
  const { changes, patch } = await project.diff(from)
  return { changes, patch }
}

test('diff, rewind and undo in a watched project work as in any other', async () => {
  await using s = await scratch()
  await using pair = await watchedAndNot(s, { inProcess: true })
  for (const acts of someActs(4, 3)) {
    const [mine, theirs] = [await pair.watched.save(), await pair.plain.save()]
    s.write({ count: mine.id })
    for (const each of acts) perform(s.project, each)
    const now = s.snapshotOf()
    expect(await diffOf(pair.watched, mine.id)).toEqual(await diffOf(pair.plain, theirs.id))
    const { plan } = await pair.watched.rewind(mine.id, { dryRun: true })
    expect(plan).toEqual((await pair.plain.rewind(theirs.id, { dryRun: true })).plan)
    await pair.watched.rewind(mine.id)
    expect(await diffOf(pair.watched, mine.id)).toEqual({ changes: [], patch: '' })
    expect(await pair.difference()).toBeUndefined()
    await pair.watched.undo()
    expect(await pair.difference()).toBeUndefined()
    expect(s.snapshotOf()).toEqual(now)
  }
  expect((await pair.watch()).fullScans).toBe(0)
})

test('a session saves the current files of a watched project', async () => {
  await using s = await scratch({ files: { a: '1' } })
  await using pair = await watchedAndNot(s, { inProcess: true })
  const session = await pair.store.session('task', { project: pair.watched })
  for (const acts of someActs(2, 5)) {
    for (const each of acts) perform(s.project, each)
    const { id } = await session.save({ files: true })
    const plain = await pair.plain.save()
    expect((await session.show(id)).tree).toBe((await pair.plain.show(plain.id)).tree)
  }
  await session.close()
})

test('another store can save, rewind and prune during a watch', async () => {
  await using s = await scratch({ files: { a: '1', 'b/c': '2' } })
  setStore(s, { retention: 'hermes', maxCheckpoints: 3, autoPrune: false })
  chmodSync(join(s.home, 'config.json'), 0o600)
  await using pair = await watchedAndNot(s, { inProcess: true })
  const other = await s.open({ inProcess: true })
  const theirs = await other.project(s.project)
  const { id: first } = await theirs.save({ name: 'first' })
  let turn = 0
  for (const acts of someActs(8, 7)) {
    for (const each of acts) perform(s.project, each)
    turn += 1
    if (turn % 2 === 0) await theirs.save()
    if (turn % 4 === 1) await theirs.rewind(first)
    if (turn % 4 === 3) await other.prune()
    expect(await pair.difference()).toBeUndefined()
  }
  await other.close()
  expect((await pair.store.verify()).problems).toEqual([])
  expect((await pair.watch()).fullScans).toBe(0)
})

test('the command line can save and rewind during a watch', async () => {
  await using s = await scratch({ files: { a: '1', 'b/c': '2' } })
  await using pair = await watchedAndNot(s)
  const env = { ...process.env, SAVESTATE_HOME: s.home }
  const command = (...args: readonly string[]) =>
    spawnSync(process.execPath, [CLI, ...args], { cwd: s.project, env, encoding: 'utf8' })
  s.write({ 'b/c': '3', 'd/e': 'new' })
  expect(command('save').status).toBe(0)
  expect((await pair.watched.save()).created).toBe(false)
  expect(command('rewind', '2', '-y')).toMatchObject({ status: 0 })
  expect(existsSync(join(s.project, 'd/e'))).toBe(false)
  expect(await pair.difference()).toBeUndefined()
  expect(command('undo', '-y')).toMatchObject({ status: 0 })
  expect(await pair.difference()).toBeUndefined()
  expect(command('status').stdout).toContain('Watched:')
})

/** A process that watches the project and saves it for each line it receives. */
async function watcher(s: Scratch): Promise<ChildProcess> {
  const script = `
    const { openStore } = await import(${JSON.stringify(INDEX)})
    const store = await openStore({ home: ${JSON.stringify(s.home)}, durability: 'process' })
    const project = await store.project(${JSON.stringify(s.project)}, { watch: true })
    await project.save()
    process.stdout.write('saved')
    process.stdin.on('data', async () => {
      await project.save()
      process.stdout.write('saved')
    })
  `
  const child = spawn(process.execPath, ['--input-type=module', '-e', script], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  await once(child.stdout, 'data')
  return child
}

const foldersIn = (s: Scratch) => readdirSync(join(s.home, 'watches'))

test('two processes watch one project; only the leftovers of a killed one are removed', async () => {
  await using s = await scratch({ files: { a: '1', 'b/c': '2' } })
  await using pair = await watchedAndNot(s)
  const child = await watcher(s)
  for (const text of ['3', '4']) {
    s.write({ 'b/c': text })
    child.stdin?.write('save\n')
    await once(child.stdout ?? child, 'data')
    expect((await pair.watched.save()).created).toBe(false)
    expect(await pair.difference()).toBeUndefined()
  }
  const pids = (await pair.store.status()).watches.map(({ pid }) => pid)
  expect(new Set(pids)).toEqual(new Set([process.pid, child.pid]))
  expect(foldersIn(s)).toHaveLength(2)
  const ended = once(child, 'exit')
  child.kill('SIGKILL')
  await ended
  // Long ago, so that no running process can own it.
  for (const name of foldersIn(s)) utimesSync(join(s.home, 'watches', name), 1, 1)
  const { problems } = await pair.store.verify()
  expect(problems).toEqual([
    expect.objectContaining({
      kind: 'leftover',
      path: expect.stringContaining(`watches/${child.pid}-`),
    }),
  ])
  expect(await pair.store.status()).toMatchObject({ watches: [{ pid: process.pid }] })
  expect(foldersIn(s)).toEqual([expect.stringMatching(`^${process.pid}-`)])
  expect((await pair.store.verify()).problems).toEqual([])
  s.write({ 'b/c': '5' })
  expect(await pair.difference()).toBeUndefined()
  expect((await pair.watch()).fullScans).toBe(0)
})

test('a repair removes the leftovers of a killed process, and so does a new watch', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const kill = async () => {
    const child = await watcher(s)
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    return foldersIn(s)
  }
  expect(await kill()).toHaveLength(1)
  // A new watching process removes it, and is then killed too.
  const [left = ''] = await kill()
  expect(foldersIn(s)).toEqual([left])
  utimesSync(join(s.home, 'watches', left), 1, 1)
  await sdk.repairStore({ home: s.home })
  expect(foldersIn(s)).toEqual([])
})

test('closing the store ends its watches without leftovers', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const store = await s.open()
  const project = await store.project(s.project, { watch: true })
  await project.save()
  writeFileSync(join(s.project, 'a'), '2')
  await project.save()
  expect((await store.status()).watches).toHaveLength(1)
  await project.unwatch()
  expect((await store.status()).watches).toEqual([])
  await store.close()
  expect(foldersIn(s)).toEqual([])
})
