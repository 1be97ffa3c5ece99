// Calls on one session that are not awaited one by one: they take effect in the order in which they were made, and keep
// what they were given as it was then.
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Session, Store } from '../../../src/index.js'
import { Ledger } from '../../../src/ledger/index.js'
import { takeProjectLock } from '../../support/project-lock.js'
import { type Scratch, scratch } from '../../support/scratch.js'

type State = { m: unknown[] }

async function opened(s: Scratch): Promise<{ store: Store; session: Session<State> }> {
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session<State>('task', { project })
  return { store, session }
}

/** Saves take longer with some files. */
const FILES = Object.fromEntries(Array.from({ length: 50 }, (_, n) => [`f${n}`, `${n}\n`]))

test('a fast save keeps its position after a slow save that was called before it', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const saved = await Promise.all([
    session.save({ state: { m: [1] }, files: true, reason: 'first' }),
    session.save({ state: { m: [1, 2] }, reason: 'second' }),
    session.append('m', [3], { files: true, reason: 'third' }),
    session.append('m', [4], { reason: 'fourth' }),
    session.newTurn(),
    session.save({ reason: 'fifth' }),
    session.complete(),
  ])
  expect(saved.slice(0, 4)).toMatchObject([{ step: 0 }, { step: 1 }, { step: 2 }, { step: 3 }])
  const all = await session.list()
  expect(all.map(({ reason }) => reason)).toEqual(['fifth', 'fourth', 'third', 'second', 'first'])
  expect(await Promise.all(all.map(({ id }) => session.stateAt(id)))).toEqual([
    { m: [1, 2, 3, 4] },
    { m: [1, 2, 3, 4] },
    { m: [1, 2, 3] },
    { m: [1, 2] },
    { m: [1] },
  ])
  expect((await session.show('1')).agent?.turn).toBe(1)
  expect(saved.at(-1)).toMatchObject({ status: 'completed' })
})

test('a save stores the state as it was at the call, even if the caller changes it meanwhile', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const state: State = { m: [{ n: 0 }] }
  const saving: ReturnType<typeof session.save>[] = []
  for (const files of [true, false, true, false]) {
    saving.push(session.save({ state, files }))
    state.m.push({ n: state.m.length })
    Object.assign(state.m[0] as object, { n: -state.m.length })
  }
  const ids = (await Promise.all(saving)).map(({ id }) => id)
  expect(await Promise.all(ids.map((id) => session.stateAt(id)))).toEqual([
    { m: [{ n: 0 }] },
    { m: [{ n: -2 }, { n: 1 }] },
    { m: [{ n: -3 }, { n: 1 }, { n: 2 }] },
    { m: [{ n: -4 }, { n: 1 }, { n: 2 }, { n: 3 }] },
  ])
  // No earlier call to wait for.
  const alone = session.save({ state })
  state.m.length = 0
  expect((await session.stateAt((await alone).id))?.m).toHaveLength(5)
})

test('append stores its items as they were at the call, also if they share objects with the state', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const shared = { a: 1 }
  await session.save({ state: { m: [shared] } })
  const item = { shared, n: 1 }
  const first = session.append('m', [item], { files: true })
  item.n = 2
  const second = session.append('m', [item])
  item.n = 3
  await Promise.all([first, second])
  const { m = [] } = (await session.stateAt()) ?? {}
  expect(m).toEqual([shared, { shared, n: 1 }, { shared, n: 2 }])
})

test('a collection does not remove what a running save still needs', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const other = await s.open()
  await session.save({ state: { m: [0] }, files: true })
  writeFileSync(join(s.project, 'f0'), 'changed')
  const state: State = { m: [0, 'at the call'] }
  const items = ['appended']
  const saving: ReturnType<typeof session.save>[] = []
  // The saves wait for the project's lock.
  const lock = await takeProjectLock(s)
  saving.push(session.save({ state, files: true }))
  saving.push(session.save({ state: { m: ['second'] }, files: true }))
  state.m[1] = 'later'
  await collectStates(s)
  lock.release()
  const ids = (await Promise.all(saving)).map(({ id }) => id)
  expect(await Promise.all(ids.map((id) => session.stateAt(id)))).toEqual([
    { m: [0, 'at the call'] },
    { m: ['second'] },
  ])
  writeFileSync(join(s.project, 'f0'), 'changed again')
  const again = await takeProjectLock(s)
  saving.push(session.append('m', items, { files: true }))
  items[0] = 'later'
  await collectStates(s)
  again.release()
  const last = await saving.at(-1)
  expect(await session.stateAt(last?.id)).toEqual({ m: ['second', 'appended'] })
  expect((await other.verify()).problems).toEqual([])
})

test('a save called before the rewind prompt keeps its state, whatever the prompt saves', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const first = await session.save({ state: { m: [0] }, files: true })
  writeFileSync(join(s.project, 'f0'), 'changed')
  const confirm = async () => {
    await session.save({ state: { m: ['answer'] }, operationId: 'answer' })
    // Done already, so it adds nothing.
    await session.save({ state: { m: ['answer'] }, files: true, operationId: 'answer' })
    return false
  }
  const rewinding = session.rewind(first.id, { confirm })
  const state: State = { m: ['at the call'] }
  const saving = session.save({ state, files: true })
  state.m[0] = 'later'
  await rewinding
  expect(await session.stateAt((await saving).id)).toEqual({ m: ['at the call'] })
})

/** Collects states only: a full prune would wait for the running saves. */
async function collectStates(s: Scratch): Promise<void> {
  const ledger = Ledger.open(s.home, { durability: 'process' })
  await ledger.vacuum.collect(async () => undefined)
  ledger.close()
}

test('a tool may save while it runs, and its outcome is recorded after earlier calls', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const result = await session.tool({ id: 'c', name: 'work' }, async () => {
    await session.save({ state: { m: ['inside'] }, files: true })
    return session.step('step', () => 'done')
  })
  expect(result).toBe('done')
  const late = session.tool({ id: 'never', name: 'work' }, () => new Promise(() => undefined))
  await session.save({ state: { m: ['meanwhile'] } })
  expect(await session.stateAt()).toEqual({ m: ['meanwhile'] })
  expect(await session.inFlight()).toMatchObject([{ id: 'never' }])
  void late
})

test('the rewind prompt may save before it answers', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const first = await session.save({ state: { m: [1] }, files: true })
  writeFileSync(join(s.project, 'f0'), 'changed')
  const confirm = async () => {
    await session.save({ state: { m: ['before'] }, reason: 'asked' })
    return false
  }
  const rewound = session.rewind(first.id, { confirm })
  const after = session.save({ reason: 'after' })
  expect((await rewound).declined).toBe(true)
  await after
  expect((await session.list()).map(({ reason }) => reason)).toEqual(['after', 'asked', null])
})

test('a save stores its metadata as it was at the call', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const metadata = { at: 'call' }
  const data = [1]
  const saving = [
    session.save({ state: { m: [] }, files: true, metadata }),
    session.save({ metadata }),
    session.append('m', [1], { files: true, metadata }),
  ]
  const item = { id: 'theirs', timestamp: '2026-01-01T00:00:00Z', name: 'n', data }
  const importing = session.import([item])
  metadata.at = 'later'
  data.push(2)
  for (const { id } of await Promise.all(saving))
    expect((await session.show(id)).agent?.metadata).toEqual({ at: 'call' })
  await importing
  expect(await session.stateAt()).toEqual([1])
})

test('the journal stores arguments and results as they were at the call, even if it is written later', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const value = { at: 'call' }
  // A result that cannot be stored leaves the call undecided.
  await session.tool({ id: 'open', name: 'n' }, () => session).catch(() => undefined)
  const before = session.save({ state: { m: [] }, files: true })
  const deciding = session.resolveToolCall('open', { as: 'confirmed', result: value })
  const args: unknown[] = []
  const calling = session.tool({ id: 'waits', name: 'n', args: value }, async () => {
    args.push(...(await session.inFlight()).map((call) => call.args))
  })
  value.at = 'later'
  await Promise.all([before, deciding, calling])
  const again = () => 'it ran again'
  expect(await session.tool({ id: 'open', name: 'n' }, again)).toEqual({ at: 'call' })
  expect(args).toEqual([{ at: 'call' }])
  const result = { at: 'end' }
  const saving: Promise<unknown>[] = []
  const ending = session.tool({ id: 'ends', name: 'n' }, () => {
    saving.push(session.save({ files: true }))
    return result
  })
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  result.at = 'later'
  await Promise.all([ending, ...saving])
  expect(await session.tool({ id: 'ends', name: 'n' }, again)).toEqual({ at: 'end' })
})

test('two concurrent saves with one operation id make one checkpoint, in one process and in two', async () => {
  await using s = await scratch({ files: FILES })
  const { session } = await opened(s)
  const save = (from: Session<State>, files: boolean, n: number) =>
    from.save({ state: { m: [n] }, operationId: `op ${files}`, files })
  for (const files of [false, true]) {
    const both = await Promise.all([save(session, files, 1), save(session, files, 1)])
    expect(both.map(({ created }) => created)).toEqual([true, false])
    expect(both[0]?.id).toBe(both[1]?.id)
  }
  await session.close()
  // Without a lease: two writers, each of which checks before the other has saved.
  const writer = async () => {
    const store = await s.open()
    const project = await store.project(s.project)
    return store.session<State>('task', { project, lease: false })
  }
  const [one, two] = [await writer(), await writer()]
  const across = { state: { m: [2] }, operationId: 'across', files: true }
  const saved = await Promise.all([one.save(across), two.save(across)])
  expect(saved.filter(({ created }) => created)).toHaveLength(1)
  expect(saved[0].id).toBe(saved[1].id)
  expect(await one.list()).toHaveLength(3)
})

test('an operation that a rewind reverted can be saved again, and a retry of that adds nothing', async () => {
  await using s = await scratch()
  const { session } = await opened(s)
  const start = await session.save({ state: { m: [0] } })
  const left = await session.save({ state: { m: [1] }, operationId: 'op' })
  await session.rewind(start.id, { restore: 'state' })
  const again = await session.save({ state: { m: [2] }, operationId: 'op' })
  expect(again).toMatchObject({ created: true })
  expect(await session.stateAt()).toEqual({ m: [2] })
  expect(await session.stateAt(left.id)).toEqual({ m: [1] })
  await session.save({ state: { m: [3] } })
  const retried = await session.save({ state: { m: [2] }, operationId: 'op' })
  expect([retried.created, retried.id]).toEqual([false, again.id])
  // Back to a point at which the first one was current.
  await session.rewind(left.id, { restore: 'state' })
  await session.save({ state: { m: [4] }, operationId: 'op' })
  expect(await session.stateAt()).toEqual({ m: [4] })
})
