// Every call that changes a shared session is acknowledged by the remote: another host sees it at once.
import { describe, expect, test } from 'vitest'
import type { Session, Store } from '../../../src/index.js'
import { systemClock } from '../../../src/system/index.js'
import { type Host, sharedPlace } from '../../support/sharing/fleet.js'

const place = sharedPlace()

type State = { items: number[] }
type Work = {
  readonly a: Host
  readonly b: Host
  readonly store: Store
  readonly session: Session<State>
  [Symbol.asyncDispose](): Promise<void>
}

let count = 0

async function begin(options: { readonly files?: boolean } = {}): Promise<Work> {
  const [a, b] = [await place().host({ files: { 'a.txt': '0' } }), await place().host()]
  const store = await a.openShared()
  const project = options.files === true ? { project: await store.project(a.project) } : {}
  const session = await store.session<State>(`calls-${(count += 1)}`, project)
  await session.save({ state: { items: [0] }, files: options.files === true, name: 'first' })
  const dispose = async () => {
    await a.dispose()
    await b.dispose()
  }
  return { a, b, store, session, [Symbol.asyncDispose]: dispose }
}

/** The session as another host has it, without the lease. */
async function elsewhere({ b, session }: Pick<Work, 'b' | 'session'>) {
  const store = await b.openShared()
  const copy = await store.session<State>(session.id, { lease: false, create: false })
  const list = await copy.list()
  const info = (await store.sessions()).find(({ id }) => id === session.id)
  const seen = {
    state: await copy.stateAt(),
    names: list.map(({ name }) => name),
    pinned: list.map(({ pinned }) => pinned),
    status: info?.status,
    turn: info?.turn,
    inFlight: (await copy.inFlight()).map(({ id, partials }) => ({ id, partials })),
  }
  await copy.close()
  await store.close()
  return seen
}

describe('a call on the session', () => {
  test('rewind of the state', async () => {
    await using work = await begin()
    await work.session.append('items', [1])
    await work.session.rewind('first', { restore: 'state' })
    expect((await elsewhere(work)).state).toEqual({ items: [0] })
  })

  test('rewind with files, its undo and redo', async () => {
    await using work = await begin({ files: true })
    const { a, session, store } = work
    a.write({ 'a.txt': '1' })
    await session.save({ state: { items: [0, 1] }, files: true })
    await session.rewind('first')
    expect((await elsewhere(work)).state).toEqual({ items: [0] })
    const project = await store.project(a.project)
    await project.undo()
    expect((await elsewhere(work)).state).toEqual({ items: [0, 1] })
    await project.redo()
    expect((await elsewhere(work)).state).toEqual({ items: [0] })
  })

  test('status and turn', async () => {
    await using work = await begin()
    expect(await work.session.newTurn()).toBe(1)
    expect((await elsewhere(work)).turn).toBe(1)
    await work.session.fail('no budget')
    expect((await elsewhere(work)).status).toBe('failed: no budget')
  })

  test('import and prune', async () => {
    await using work = await begin()
    const checkpoints = Array.from({ length: 80 }, (_, n) => ({
      id: `old-${n}`,
      name: 'old',
      data: { items: [n] },
      timestamp: '2026-01-01T00:00:00.000Z',
      metadata: {},
    }))
    await work.session.import(checkpoints)
    expect((await elsewhere(work)).names).toHaveLength(81)
    await work.session.prune({ maxCheckpoints: 20, keepLast: 5 })
    expect(await work.session.count()).toBeLessThan(81)
    expect((await elsewhere(work)).names).toEqual(
      (await work.session.list()).map(({ name }) => name),
    )
  })

  test('the intent of a tool, its pieces and its end', async () => {
    await using work = await begin()
    await work.session.tool({ id: 'call', name: 'effect' }, async (call) => {
      expect((await elsewhere(work)).inFlight).toEqual([{ id: 'call', partials: [] }])
      call.partial('half')
      await work.session.append('items', [1])
      expect((await elsewhere(work)).inFlight).toEqual([{ id: 'call', partials: ['half'] }])
    })
    expect((await elsewhere(work)).inFlight).toEqual([])
  })

  test('a step runs once, on any host', async () => {
    await using work = await begin()
    let runs = 0
    await work.session.step('once', async () => {
      expect((await elsewhere(work)).inFlight).toEqual([{ id: 'once:once', partials: [] }])
      return (runs += 1)
    })
    expect((await elsewhere(work)).inFlight).toEqual([])
    await work.session.close()
    const { session } = await (await work.b.openShared()).resume(work.session.id)
    expect(await session.step('once', () => (runs += 1))).toBe(1)
    expect(runs).toBe(1)
  })

  test('what happened to the calls of a process that died', async () => {
    await using work = await begin()
    await using c = await place().host()
    const { b } = work
    const never = new Promise<string>(() => undefined)
    for (const id of ['one', 'two'])
      await new Promise<void>((started) => {
        void work.session.tool({ id, name: 'effect' }, () => {
          started()
          return never
        })
      })
    await place().expireLeases()
    const { session } = await (await b.openShared()).resume<State>(work.session.id)
    const seen = { b: c, session }
    const unknown = (id: string) => ({ id, partials: [] })
    expect((await elsewhere(seen)).inFlight).toEqual([unknown('one'), unknown('two')])
    await session.resolveToolCall('one', { as: 'confirmed', result: 'by hand' })
    expect((await elsewhere(seen)).inFlight).toEqual([unknown('two')])
    await session.resolveToolCall('two', { as: 'skipped' })
    expect((await elsewhere(seen)).inFlight).toEqual([])
    await place().expireLeases()
    const last = (await (await c.openShared()).resume(session.id)).session
    expect(await last.tool({ id: 'one', name: 'effect' }, () => 'again')).toBe('by hand')
    expect(await last.tool({ id: 'two', name: 'effect' }, () => 'again')).toBeUndefined()
  })

  test('delete: no host can resume the session, and its id is free', async () => {
    await using work = await begin()
    const { b, session } = work
    expect((await elsewhere(work)).state).toEqual({ items: [0] })
    expect(await session.delete()).toBe(1)
    const remote = await place().remote()
    const head = await remote.head({ kind: 'session', id: session.id })
    expect(head).toMatchObject({ isDeleted: true, holder: null, card: null, hash: null })
    await using c = await place().host()
    const stores = [await b.openShared(), await c.openShared()]
    for (const store of stores)
      await expect(store.resume(session.id)).rejects.toMatchObject({ code: 'SESSION_DELETED' })
    const again = await stores[1]?.session<State>(session.id)
    await again?.save({ state: { items: [9] } })
    expect(await again?.stateAt()).toEqual({ items: [9] })
  })
})

describe('a call on the project or the store', () => {
  test('a name and a pin of an open and of a closed session', async () => {
    await using work = await begin({ files: true })
    const { a, store, session } = work
    const project = await store.project(a.project)
    await project.name('1', 'renamed')
    expect((await elsewhere(work)).names).toEqual(['renamed'])
    await session.close()
    await project.pin('1')
    expect((await elsewhere(work)).pinned).toEqual([true])
  })

  test('a fork, from a session that only another host has', async () => {
    await using work = await begin({ files: true })
    await using c = await place().host()
    const { a, b, session } = work
    const filesOfFirst = a.snapshotOf()
    a.write({ 'a.txt': '1' })
    await session.save({ state: { items: [0, 1] }, files: true })
    await session.close()
    const store = await b.openShared()
    await (await store.resume(session.id, { into: b.project })).session.close()
    const forked = await store.fork<State>('first', {
      of: session.id,
      session: `${session.id}-fork`,
    })
    const { state, names } = await elsewhere({ b: c, session: forked })
    expect({ state, names }).toEqual({ state: { items: [0] }, names: [null] })
    await forked.append('items', [7])
    await forked.close()
    const again = await (await c.openShared()).resume(forked.id, { into: c.project })
    expect(again.state).toEqual({ items: [0, 7] })
    expect(c.snapshotOf()).toEqual(filesOfFirst)
  })

  test('a deleted session is gone for every host, and its id can be used again', async () => {
    await using work = await begin()
    const { b, store, session } = work
    await session.close()
    const other = await b.openShared()
    const resumed = await other.resume(session.id)
    await expect(store.deleteSession(session.id)).rejects.toMatchObject({ code: 'SESSION_BUSY' })
    await resumed.session.close()
    expect(await store.deleteSession(session.id)).toBe(1)
    await expect(other.resume(session.id)).rejects.toMatchObject({ code: 'SESSION_DELETED' })
    // The copy of the other host stays until it is deleted there.
    expect(await other.deleteSession(session.id)).toBe(1)
    const again = await other.session<State>(session.id)
    await again.save({ state: { items: [9] } })
    await again.close()
    expect((await store.resume(session.id)).state).toEqual({ items: [9] })
  })

  test('a prune of the store removes the copy of this host, never the session of others', async () => {
    await using a = await place().host()
    await using b = await place().host()
    const store = await a.openShared()
    const session = await store.session('unused')
    await session.save({ state: { n: 1 } })
    await session.complete()
    await store.close()
    // A host that has not worked for a year.
    const year = 365 * 24 * 3_600_000
    const clock = { nowMs: () => Date.now() + year, random: systemClock.random }
    const later = await a.openShared({ clock })
    await later.prune({ retentionDays: 30 })
    expect(await later.sessions()).toEqual([])
    const other = await b.openShared()
    expect((await other.resume('unused')).state).toEqual({ n: 1 })
    await other.close()
    expect((await later.resume('unused')).state).toEqual({ n: 1 })
  })
})

test('a session that was not shared is shared when it is opened with the remote', async () => {
  await using a = await place().host()
  await using b = await place().host()
  const alone = await a.open()
  const session = await alone.session('older')
  await session.save({ state: { n: 1 } })
  await session.tool({ id: 'call', name: 'effect' }, () => 'done')
  await alone.close()
  const store = await a.openShared()
  await (await store.session('older')).close()
  const resumed = await (await b.openShared()).resume('older')
  expect(resumed.state).toEqual({ n: 1 })
  expect(await resumed.session.tool({ id: 'call', name: 'effect' }, () => 'again')).toBe('done')
})
