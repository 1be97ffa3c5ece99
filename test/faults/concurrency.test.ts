// Several processes on one store and one project at once: none fails, and none sees incomplete work of another.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import type { CheckpointView, RewindResult, SaveResult, VerifyResult } from '../../src/index.js'
import { takeProjectLock } from '../support/project-lock.js'
import { type Scratch, scratch } from '../support/scratch.js'

const CHILD = join(dirname(fileURLToPath(import.meta.url)), '../support/crash-child.mjs')

type Step = readonly [string, unknown?]
type Outcome<T> = { readonly results?: readonly T[]; readonly error?: { readonly code: string } }
type Request = {
  readonly run: readonly Step[]
  readonly project?: string
  readonly umask?: number
}

/** Starts a process; it prints its outcome when it ends. */
function start(s: Scratch, request: object): Promise<string> {
  const text = JSON.stringify({ home: s.home, project: s.project, ...request })
  const { NODE_EXTRA_CA_CERTS: _, ...env } = process.env
  const child = spawn(process.execPath, [CHILD, text], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const chunks: Buffer[] = []
  const complaints: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => complaints.push(chunk))
  return once(child, 'close').then(() => {
    const code = Buffer.concat(complaints).toString('utf8')
    return code === ''
      ? Buffer.concat(chunks).toString('utf8')
      : JSON.stringify({ error: { code } })
  })
}

/** Runs all at the same time: each waits until all have started. */
async function race<T>(s: Scratch, requests: readonly Request[]): Promise<Outcome<T>[]> {
  const folder = join(s.folder, `race-${Math.random().toString(36).slice(2)}`)
  mkdirSync(folder)
  const waitFor = join(folder, 'go')
  const ready = requests.map((_, i) => join(folder, `ready-${i}`))
  // Alternate with and without a capture thread.
  const running = requests.map((request, i) =>
    start(s, { ...request, waitFor, ready: ready[i], inProcess: i % 2 === 1 }),
  )
  while (!ready.every((path) => existsSync(path))) await sleep(2)
  writeFileSync(waitFor, '')
  const outcomes = await Promise.all(running)
  return outcomes.map((text) => JSON.parse(text) as Outcome<T>)
}

const times = <T>(count: number, make: (i: number) => T) =>
  Array.from({ length: count }, (_, i) => make(i))

test('eight processes that save one state make one checkpoint, and all return it', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one', 'b/c.txt': 'one' } })
  await (await s.open()).close()
  const outcomes = await race<SaveResult>(
    s,
    times(8, () => ({ run: [['save', {}]] })),
  )
  const saved = outcomes.map(({ results }) => results?.[0])
  expect(saved.filter((result) => result?.created === true)).toHaveLength(1)
  expect(new Set(saved.map((result) => result?.id)).size).toBe(1)
  const store = await s.open()
  const checkpoints = await (await store.project(s.project)).list()
  expect(checkpoints.map(({ id }) => id)).toEqual([saved[0]?.id])
  expect(await store.verify()).toEqual({ checkpoints: 1, problems: [], quick: false })
})

test('eight processes that write and save lose nothing and save no state twice', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const requests = times(8, (i) => ({
    run: times(3, (n): Step[] => [
      ['write', { path: `${i}.txt`, content: `${i} ${n}` }],
      ['save', { reason: `${i} ${n}` }],
    ]).flat(),
  }))
  const outcomes = await race<SaveResult>(s, requests)
  expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([])
  const store = await s.open()
  const project = await store.project(s.project)
  const checkpoints = await project.list()
  const ids = new Set(checkpoints.map(({ id }) => id))
  for (const { results } of outcomes) {
    for (const { id } of results ?? []) expect(ids.has(id)).toBe(true)
  }
  const trees = await Promise.all(checkpoints.map(async ({ id }) => (await project.show(id)).tree))
  expect(trees.filter((tree, i) => tree === trees[i + 1])).toEqual([])
  expect(await project.save({})).toMatchObject({ created: false, id: checkpoints[0]?.id })
  // Each saved what it had just written.
  for (const [i, { results }] of outcomes.entries()) {
    const last = results?.at(-1)?.id ?? ''
    await project.rewind(last)
    expect(readFileSync(join(s.project, `${i}.txt`), 'utf8')).toBe(`${i} 2`)
  }
  expect((await store.verify()).problems).toEqual([])
})

test.each([1, 2, 3])(
  'many processes that create a store at once create one (round %i)',
  async () => {
    await using s = await scratch({ files: { 'a.txt': 'one' } })
    const outcomes = await race<SaveResult>(
      s,
      times(6, () => ({ run: [['save', {}]] })),
    )
    expect(outcomes.map(({ error }) => error)).toEqual(times(6, () => undefined))
    const store = await s.open()
    expect(await store.verify()).toEqual({ checkpoints: 1, problems: [], quick: false })
  },
)

test('concurrent saves of projects with the same content store it once', async () => {
  await using s = await scratch()
  const content = Object.fromEntries(times(200, (i) => [`${i % 10}/${i}.txt`, `content ${i}\n`]))
  const projects = times(4, (i) => join(s.folder, `project-${i}`))
  for (const project of projects) {
    mkdirSync(project)
    s.write(content, project)
  }
  await (await s.open()).close()
  const requests = projects.map((project) => ({ project, run: [['save', {}]] as const }))
  const outcomes = await race<SaveResult>(s, requests)
  expect(outcomes.map(({ results }) => results?.[0]?.created)).toEqual(projects.map(() => true))
  const store = await s.open()
  const details = await Promise.all(
    projects.map(async (path, i) =>
      (await store.project(path)).show(outcomes[i]?.results?.[0]?.id ?? ''),
    ),
  )
  expect(new Set(details.map(({ tree }) => tree)).size).toBe(1)
  expect((await store.verify()).problems).toEqual([])
})

test('a save waits for the project lock, and a list does not', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save({})
  s.write({ 'a.txt': 'two' })
  const lock = await takeProjectLock(s)
  let hasSaved = false
  const ready = join(s.folder, 'ready')
  const saving = start(s, { inProcess: true, ready, run: [['save', {}]] }).finally(() => {
    hasSaved = true
  })
  while (!existsSync(ready)) await sleep(2)
  // A list needs no lock. It starts after the save and ends before it.
  const listed = JSON.parse(await start(s, { inProcess: true, run: [['list', {}]] })) as Outcome<
    readonly CheckpointView[]
  >
  expect(listed.results?.[0]?.map((checkpoint) => checkpoint.id)).toEqual([id])
  expect(hasSaved).toBe(false)
  s.write({ 'a.txt': 'one' })
  lock.release()
  const saved = JSON.parse(await saving) as Outcome<SaveResult>
  // The save captured the folder after the lock was released.
  expect(saved.results?.[0]).toMatchObject({ created: false, id })
})

test('concurrent rewinds to different checkpoints run completely, one after the other', async () => {
  const names = times(20, (i) => `dir-${i % 3}/${i}.txt`)
  const filesOf = (content: string) => Object.fromEntries(names.map((name) => [name, content]))
  await using s = await scratch({ files: filesOf('zero') })
  const store = await s.open()
  const project = await store.project(s.project)
  const states = new Map<string, ReturnType<typeof s.snapshotOf>>()
  for (const content of ['one', 'two', 'three', 'four']) {
    s.write({ ...filesOf(content), [`only-${content}.txt`]: content })
    states.set((await project.save({ reason: content })).id, s.snapshotOf())
  }
  const requests = [...states.keys()].map((to) => ({ run: [['rewind', { to }]] as const }))
  const outcomes = await race<RewindResult>(s, requests)
  expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([])
  expect([...states.values()]).toContainEqual(s.snapshotOf())
  for (const [to, state] of states) {
    await project.rewind(to)
    expect(s.snapshotOf()).toEqual(state)
  }
  expect((await store.verify()).problems).toEqual([])
})

test('saves, rewinds and undos of several processes leave an intact store', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one', 'd/b.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const { id } = await project.save({})
  const first = s.snapshotOf()
  await store.close()
  const mixed = times(6, (i) => ({
    run: [
      ['write', { path: `made-${i}.txt`, content: `${i}` }],
      ['save', {}],
      ['rewind', { to: id }],
      ['verify'],
      ['diff', { to: id }],
    ] satisfies Step[],
  }))
  const outcomes = await race<VerifyResult>(s, mixed)
  expect(outcomes.filter(({ error }) => error !== undefined)).toEqual([])
  const again = await s.open()
  expect((await again.verify()).problems).toEqual([])
  await (await again.project(s.project)).rewind(id)
  expect(s.snapshotOf()).toEqual(first)
})

test('many concurrent saves through one store and through two of one process succeed', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const [one, two] = [await s.open({ inProcess: false }), await s.open({ inProcess: false })]
  const first = await one.project(s.project)
  const second = await two.project(s.project)
  const saves = times(10, (i) => (i % 2 === 0 ? first : second).save({}))
  const saved = await Promise.all(saves)
  expect(saved.filter((result) => result.created)).toHaveLength(1)
  expect(new Set(saved.map(({ id }) => id)).size).toBe(1)
})

test('a store that is opened and closed twice in one process loses nothing to another process', async () => {
  // Closing any descriptor of a file drops all locks the process has on it; SQLite relies on them.
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const expected = [(await project.save({})).id]
  const other = join(s.folder, 'other')
  s.write({ 'x.txt': 'x' }, other)
  for (const content of ['two', 'three', 'four']) {
    await (await s.open()).close()
    s.write({ 'x.txt': content }, other)
    const outcome = JSON.parse(
      await start(s, { inProcess: true, project: other, run: [['save', {}]] }),
    ) as object
    expect(outcome).toHaveProperty('results')
    s.write({ 'a.txt': content })
    expected.unshift((await project.save({})).id)
  }
  await store.close()
  const again = await s.open()
  const checkpoints = await (await again.project(s.project)).list()
  expect(checkpoints.map(({ id }) => id)).toEqual(expected)
  expect(await (await again.project(other)).list()).toHaveLength(3)
  expect((await again.verify()).problems).toEqual([])
})

test('the store is private under any umask: folders 0700, files 0600', async () => {
  await using s = await scratch({
    files: { 'a.txt': 'one', ...Object.fromEntries(times(150, (i) => [`m/${i}`, `${i}`])) },
  })
  const outcome = await start(s, {
    umask: 0,
    run: [
      ['save', { reason: 'first' }],
      ['write', { path: 'a.txt', content: 'two' }],
      ['save', { reason: 'second' }],
      ['rewind', { to: '2' }],
      ['undo', {}],
      ['diff', { to: '1' }],
    ],
  })
  expect(JSON.parse(outcome)).toHaveProperty('results')
  const open = [...s.snapshotOf(s.home)].flatMap(([path, { type, mode }]) => {
    const allowed = type === 'folder' ? 0o700 : 0o600
    return (mode & ~allowed) === 0 ? [] : [`${path || '.'} ${mode.toString(8)}`]
  })
  expect(open).toEqual([])
  expect(statSync(s.home).mode & 0o777).toBe(0o700)
})
