// An AbortSignal cancels a call: it rejects with the reason, and the store and the folder are whole.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import type { CallOptions } from '../../src/index.js'
import { takeProjectLock } from '../support/project-lock.js'
import { type Scratch, scratch, scratchWithThreads, sdk } from '../support/scratch.js'

const REASON = new Error('the user has left')

afterEach(() => {
  vi.restoreAllMocks()
})

/** Progress is reported every 50 ms, so the clock runs ahead at each look. */
function hurry(): void {
  const real = Date.now.bind(Date)
  let aheadMs = 0
  vi.spyOn(Date, 'now').mockImplementation(() => real() + (aheadMs += 60))
}

/** Two checkpoints, a rewind that was undone, and a session. */
async function story(s: Scratch) {
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session<unknown>('task', { project })
  const first = await session.save({ state: { n: 1 }, files: true })
  s.write({ 'a.txt': 'two' })
  await session.save({ state: { n: 2 }, files: true })
  await project.rewind(first.id)
  await project.undo()
  await session.close()
  return { store, project, first }
}

function manyFiles(text: string): Record<string, string> {
  return Object.fromEntries(Array.from({ length: 400 }, (_, n) => [`f${n}.txt`, `${text} ${n}`]))
}

test('a signal that is aborted already refuses every call, and nothing is done', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { store, project, first } = await story(s)
  const before = { count: await store.count(), files: s.snapshotOf() }
  const signal = AbortSignal.abort(REASON)
  const session = await store.session<unknown>('task')
  const items = async function* () {
    yield { id: 'x', timestamp: '2026-01-01T00:00:00Z', data: { n: 3 } }
  }
  const calls: Readonly<Record<string, () => Promise<unknown>>> = {
    'project.save': () => project.save({ signal }),
    'project.list': () => project.list({ signal }),
    'project.show': () => project.show(first.id, { signal }),
    'project.diff': () => project.diff(first.id, { signal }),
    'project.search': () => project.search('one', { signal }),
    'project.history': () => project.history(['a.txt'], { signal }),
    'project.rewind': () => project.rewind(first.id, { signal }),
    'project.undo': () => project.undo({ signal }),
    'project.redo': () => project.redo({ signal }),
    'project.forget': () => project.forget('a.txt', { signal }),
    'project.drop': () => project.drop([first.id], { signal }),
    'project.clear': () => project.clear({ signal }),
    'session.save': () => session.save({ state: { n: 3 }, signal }),
    'session.append': () => session.append('n' as never, [], { signal }),
    'session.saveOncePerTurn': () => session.saveOncePerTurn({ reason: 'r', signal }),
    'session.rewind': () => session.rewind(first.id, { signal }),
    'session.prune': () => session.prune({ signal }),
    'session.export': () => session.export({ signal }).next(),
    'session.import': () => session.import(items(), { signal }),
    'session.iterate': () => session.iterate({ signal }).next(),
    'store.prune': () => store.prune({ maxCheckpoints: 1, signal }),
    'store.verify': () => store.verify({ signal }),
    'store.status': () => store.status({ signal }),
    'store.resume': () => store.resume('other', { create: true, signal }),
    verifyStore: () => sdk.verifyStore({ home: s.home, inProcess: true, signal }),
    repairStore: () => sdk.repairStore({ home: s.home, inProcess: true, signal }),
  }
  const outcomes: Record<string, unknown> = {}
  for (const [name, call] of Object.entries(calls))
    outcomes[name] = await call().catch((error: unknown) => error)
  expect(outcomes).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, REASON])))
  expect({ count: await store.count(), files: s.snapshotOf() }).toEqual(before)
  // A cancelled call is no failure of the store.
  const { failures, sessions } = await store.status()
  expect([failures, sessions.length]).toEqual([[], 1])
})

test.each(['scan', 'store'])('a save can be cancelled while it is at phase %s', async (at) => {
  await using s = await scratch({ files: manyFiles('one') })
  const store = await s.open()
  const project = await store.project(s.project)
  const controller = new AbortController()
  const onProgress: CallOptions['onProgress'] = ({ phase }) => {
    if (phase === at) controller.abort(REASON)
  }
  hurry()
  await expect(project.save({ signal: controller.signal, onProgress })).rejects.toBe(REASON)
  vi.restoreAllMocks()
  expect(await project.list()).toEqual([])
  expect(await project.save()).toMatchObject({ created: true, files: 400 })
  expect((await store.verify()).problems).toEqual([])
})

test('a save on a thread can be cancelled at once', async () => {
  await using s = await scratchWithThreads({ files: manyFiles('one') })
  const store = await s.open()
  const project = await store.project(s.project)
  const controller = new AbortController()
  const saving = project.save({ signal: controller.signal })
  controller.abort(REASON)
  await expect(saving).rejects.toBe(REASON)
  await expect(project.save({ signal: AbortSignal.timeout(0) })).rejects.toMatchObject({
    name: 'TimeoutError',
  })
  expect(await project.save()).toMatchObject({ created: true, files: 400 })
  expect((await store.verify()).problems).toEqual([])
})

test('a call that waits for the lock of a project can be cancelled', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project, first } = await story(s)
  const lock = await takeProjectLock(s)
  const controller = new AbortController()
  const { signal } = controller
  const waiting = [project.save({ signal }), project.rewind(first.id, { signal })]
  controller.abort(REASON)
  const rejected = { status: 'rejected', reason: REASON }
  expect(await Promise.allSettled(waiting)).toEqual([rejected, rejected])
  lock.release()
  expect(await project.save()).toMatchObject({ created: false })
})

test('a rewind can be cancelled until it begins to change files, and not any more then', async () => {
  await using s = await scratch({ files: manyFiles('one') })
  const store = await s.open()
  const project = await store.project(s.project)
  const first = await project.save()
  s.write(manyFiles('two'))
  await project.save()
  const text = () => readFileSync(join(s.project, 'f7.txt'), 'utf8')
  const asked = new AbortController()
  const confirm = async () => {
    asked.abort(REASON)
    return true
  }
  await expect(project.rewind(first.id, { signal: asked.signal, confirm })).rejects.toBe(REASON)
  expect([text(), await project.count()]).toEqual(['two 7', 2])
  const late = new AbortController()
  const journals = join(s.home, 'journal')
  const hasJournal = () => existsSync(journals) && readdirSync(journals).length > 0
  const onProgress: CallOptions['onProgress'] = () => {
    if (hasJournal()) late.abort(REASON)
  }
  hurry()
  const done = await project.rewind(first.id, { signal: late.signal, onProgress })
  expect([late.signal.aborted, done.applied, text()]).toEqual([true, true, 'one 7'])
  vi.restoreAllMocks()
  expect((await store.verify()).problems).toEqual([])
  expect(await project.undo()).toMatchObject({ applied: true })
  expect(text()).toBe('two 7')
})

test('a prune whose plan is agreed to after the abort removes nothing', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { store } = await story(s)
  const before = await store.count()
  const controller = new AbortController()
  const confirm = () => {
    controller.abort(REASON)
    return true
  }
  const { signal } = controller
  await expect(store.prune({ maxCheckpoints: 1, signal, confirm })).rejects.toBe(REASON)
  expect(await store.count()).toBe(before)
  expect((await store.verify()).problems).toEqual([])
})

test('an import that is cancelled half-way keeps what it has, and can be repeated', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session<unknown>('task')
  const controller = new AbortController()
  const all = Array.from({ length: 3000 }, (_, n) => ({
    id: `${n}`,
    timestamp: '2026-01-01T00:00:00Z',
    data: { n },
  }))
  const items = async function* () {
    for (const [n, item] of all.entries()) {
      if (n === 2999) controller.abort(REASON)
      yield item
    }
  }
  const { signal } = controller
  await expect(session.import(items(), { signal })).rejects.toBe(REASON)
  const count = await session.count()
  expect(count).toBeLessThan(3000)
  expect(await session.import(all)).toMatchObject({ imported: 3000 - count, known: count })
})

test('a cancelled resume gives the session back', async () => {
  await using s = await scratch({ files: manyFiles('one') })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session<unknown>('task', { project })
  await session.save({ state: 1, files: true })
  await session.close()
  const controller = new AbortController()
  const onProgress = () => controller.abort(REASON)
  hurry()
  await expect(store.resume('task', { signal: controller.signal, onProgress })).rejects.toBe(REASON)
  vi.restoreAllMocks()
  expect((await store.resume('task')).state).toBe(1)
})

test('stores, sessions and watches end with their block', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  {
    await using owned = store
    const project = await owned.project(s.project)
    await using _watch = project.watch()
    await using session = await owned.session('task', { project })
    await session.save({ files: true })
  }
  await expect(store.status()).rejects.toMatchObject({ code: 'STORE_CLOSED' })
})

test('a session is begun by resume with create, and not by a typo with create: false', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const begun = await store.resume('task', { create: true, agent: 'coder', project })
  expect(begun).toMatchObject({ state: undefined, inFlight: [], checkpoint: null })
  expect(begun.info).toMatchObject({ id: 'task', agent: 'coder', project: s.project })
  await begun.session.save({ state: { n: 1 } })
  await begun.session.close()
  expect((await store.resume('task', { create: true })).state).toEqual({ n: 1 })
  await expect(store.resume('tsak')).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' })
  const typo = store.session('tsak', { create: false })
  await expect(typo).rejects.toMatchObject({ code: 'SESSION_UNKNOWN' })
  expect(await store.sessions()).toHaveLength(1)
})

test('lists, iterations and counts share one query, on the store, a project and a session', async () => {
  await using s = await scratch({ files: { 'a.txt': '0' } })
  let nowMs = Date.parse('2026-01-01T00:00:00Z')
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const store = await s.open({ clock: { nowMs: () => (nowMs += 1000), random } })
  const project = await store.project(s.project)
  const session = await store.session<unknown>('task', { project })
  const ids: string[] = []
  for (let n = 1; n <= 6; n++) {
    s.write({ 'a.txt': `${n}` })
    const name = n % 2 === 0 ? { name: 'even' } : {}
    const saved =
      n <= 3 ? await session.save({ files: true, ...name }) : await project.save({ ...name })
    ids.unshift(saved.id)
  }
  const [six = '', five = '', four = '', three = '', two = ''] = ids
  const [middle] = await project.list({ before: five, limit: 1 })
  for (const scope of [project, store]) {
    const listed = async (query: Parameters<typeof scope.list>[0]) => {
      const found = (await scope.list(query)).map(({ id }) => id)
      const walked: string[] = []
      for await (const { id } of scope.iterate(query)) walked.push(id)
      expect(walked).toEqual(found)
      return found
    }
    expect(await listed({})).toEqual(ids)
    expect(await listed({ limit: 2 })).toEqual([six, five])
    expect(await listed({ before: four })).toEqual(ids.slice(3))
    expect(await listed({ name: 'even' })).toEqual([six, four, two])
    const counts = [await scope.count(), await scope.count({ name: 'even', session: 'task' })]
    expect(counts).toEqual([6, 1])
    expect(await listed({ session: 'task', name: 'even' })).toEqual([two])
    expect(await listed({ session: 'task', before: three })).toEqual(ids.slice(4))
    expect(await listed({ session: 'absent' })).toEqual([])
    expect(await listed({ since: middle?.createdAt })).toEqual([six, five, four])
    expect(await listed({ until: middle?.createdAt })).toEqual(ids.slice(2))
    await expect(scope.list({ before: 'bbbbbbbbbbbbbbbbbb' })).rejects.toMatchObject({
      code: 'CHECKPOINT_UNKNOWN',
    })
  }
  expect((await session.latest({ name: 'even' }))?.id).toBe(two)
})
