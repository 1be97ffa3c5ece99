// The tool journal (docs/internals/sessions.md#tool-journal): confirmed calls run once, what was under way is known.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { expect, test } from 'vitest'
import { inChild } from '../../snapshot/capture/capture-helpers.js'
import { scratch } from '../../support/scratch.js'
import type { Session } from '../../../src/index.js'

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  )

/** An agent that begins a call and is killed in the middle of it. */
const DIES_IN_CALL = `
  const session = await store.session('task', { agent: 'coder', project })
  await session.save({ state: { messages: [{ role: 'user', content: 'go' }] }, files: true })
  await session.tool({ id: 'c1', name: 'read', args: { path: 'a' } }, () => 'content')
  fs.writeFileSync(path.join(scratch.project, 'a.txt'), 'changed by the dead')
  await session.tool({ id: 'c2', name: 'send', args: { to: 'you' } }, async ({ partial }) => {
    partial('half ')
    partial('a mail')
    process.kill(process.pid, 'SIGKILL')
    await new Promise(() => setInterval(() => {}, 1000))
  })
`

test('a confirmed call returns its result without running again, in this process and the next', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session('task')
  let runs = 0
  const call = () =>
    session.tool({ id: 'c1', name: 'count', args: [1] }, () => ({ runs: ++runs, at: new Date(7) }))
  expect(await call()).toEqual({ runs: 1, at: new Date(7) })
  expect(await call()).toEqual({ runs: 1, at: new Date(7) })
  expect(await session.step('step', () => ++runs)).toBe(2)
  expect(await session.step('step', () => ++runs)).toBe(2)
  await store.close()
  const again = await (await s.open()).resume('task')
  expect(await again.session.tool({ id: 'c1', name: 'count', args: [1] }, () => 'ran')).toEqual({
    runs: 1,
    at: new Date(7),
  })
  expect(again.inFlight).toEqual([])
})

test('a failed call fails again the same way', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session('task')
  const failing = () =>
    session.tool({ id: 'c1', name: 'fail' }, () => {
      throw Object.assign(new RangeError('too far'), { code: 'FAR' })
    })
  await expect(failing()).rejects.toMatchObject({
    name: 'RangeError',
    message: 'too far',
    code: 'FAR',
  })
  await expect(failing()).rejects.toMatchObject({
    name: 'RangeError',
    message: 'too far',
    code: 'FAR',
  })
})

const UNSHOWN = 'The tool threw a value that cannot be shown'

test('any thrown value reaches the caller, and the call is recorded as failed', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session('task')
  const fails = () => {
    throw new TypeError('not to be read')
  }
  const thrown: readonly (readonly [value: unknown, again: object])[] = [
    [Object.assign(Object.create(null), { f: fails }), { message: UNSHOWN }],
    [{ f: fails, toString: fails }, { message: UNSHOWN }],
    [
      Object.defineProperty(new RangeError('far'), 'a', { enumerable: true, get: fails }),
      { name: 'RangeError', message: 'far' },
    ],
    [
      Object.defineProperty(new Error('m'), 'message', { enumerable: true, get: fails }),
      { name: 'Error', message: UNSHOWN },
    ],
    [Symbol('sign'), { message: 'Symbol(sign)' }],
  ]
  for (const [place, [value, again]] of thrown.entries()) {
    const call = (run: () => unknown) =>
      session.tool({ id: String(place), name: 'throws' }, run).then(
        () => 'no error',
        (error: unknown) => error,
      )
    expect(
      await call(() => {
        throw value
      }),
    ).toBe(value)
    expect(await call(() => 'ran')).toMatchObject(again)
  }
  expect(await session.inFlight()).toEqual([])
})

test('resume reports a call that was running when its process was killed, and decide resolves it', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  await expect(inChild(s, DIES_IN_CALL)).rejects.toMatchObject({ signal: 'SIGKILL' })
  const store = await s.open()
  expect((await store.sessions({ interrupted: true })).map(({ id }) => id)).toEqual(['task'])
  const { session, inFlight, state, changedSince, brief, checkpoint } = await store.resume('task')
  expect(state).toEqual({ messages: [{ role: 'user', content: 'go' }] })
  expect(checkpoint?.step).toBe(0)
  expect(inFlight).toEqual([
    {
      id: 'c2',
      name: 'send',
      args: { to: 'you' },
      idempotencyKey: expect.stringMatching(/^savestate-[0-9a-f]{32}$/),
      startedAt: expect.any(Date),
      effect: 'unverified',
      partials: ['half ', 'a mail'],
    },
  ])
  expect(changedSince).toMatchObject([{ path: 'a.txt', change: 'modified' }])
  const text = brief()
  for (const part of ['unverified', 'send (call c2)', 'read (call c1)', 'modified a.txt', 'step 0'])
    expect(text).toContain(part)
  expect(brief({ maxChars: 120 }).length).toBeLessThanOrEqual(120)
  expect(brief({ maxChars: 0 })).toBe('')

  let key = ''
  const send = () =>
    session.tool({ id: 'c2', name: 'send' }, ({ idempotencyKey }) => {
      key = idempotencyKey
      return 'sent'
    })
  expect(await codeOf(send())).toBe('TOOL_UNVERIFIED')
  await session.resolveToolCall('c2', { as: 'retry' })
  expect(await send()).toBe('sent')
  expect(key).toBe(inFlight[0]?.idempotencyKey)
  expect(await codeOf(session.resolveToolCall('c2', { as: 'skipped' }))).toBe('BAD_INPUT')
})

test('a call can be confirmed with its result or skipped without running', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  await expect(inChild(s, DIES_IN_CALL)).rejects.toMatchObject({ signal: 'SIGKILL' })
  const { session } = await (await s.open()).resume('task')
  await session.resolveToolCall('c2', { as: 'confirmed', result: { id: 17 } })
  expect(await session.tool({ id: 'c2', name: 'send' }, () => 'ran')).toEqual({ id: 17 })
  expect(await session.inFlight()).toEqual([])
})

test('a rewind of the state lets later calls run again, earlier ones not', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session<unknown>('task')
  await session.tool({ id: 'early', name: 't' }, () => 'first')
  const point = await session.save({ state: 1 })
  await session.tool({ id: 'late', name: 't' }, () => 'first')
  await session.save({ state: 2 })
  await session.rewind(point.id, { restore: 'state' })
  expect(await session.tool({ id: 'early', name: 't' }, () => 'second')).toBe('first')
  expect(await session.tool({ id: 'late', name: 't' }, () => 'second')).toBe('second')
})

/** A call that is counted, and what its runs come to. */
function payments() {
  let runs = 0
  const pay = (session: Session) => session.tool({ id: 'pay', name: 'pay' }, () => ++runs)
  return { pay, runs: () => runs }
}

test('a call counts as made at every state that includes it, after rewind and undo', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session('task')
  const { pay, runs } = payments()
  const before = await session.save({ state: { paid: false } })
  await pay(session)
  const paid = await session.save({ state: { paid: true } })
  for (let round = 0; round < 3; round++) {
    await session.rewind(before.id, { restore: 'state' })
    await session.rewind(paid.id, { restore: 'state' })
    await session.rewind(paid.id, { restore: 'state' })
    expect(await pay(session)).toBe(1)
  }
  await session.rewind(before.id, { restore: 'state' })
  const back = await session.save({ state: { paid: false, back: true } })
  expect(await pay(session)).toBe(2)
  const again = await session.save({ state: { paid: 'again' } })
  await session.rewind(paid.id, { restore: 'state' })
  expect(await pay(session)).toBe(1)
  await session.rewind(again.id, { restore: 'state' })
  expect(await pay(session)).toBe(2)
  await session.rewind(back.id, { restore: 'state' })
  expect([await pay(session), runs()]).toEqual([3, 3])
})

test('a fork has the calls of its origin, and so have its own forks', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session('task')
  const { pay, runs } = payments()
  await session.save({ state: {} })
  const before = await session.save({ state: {} })
  await pay(session)
  const paid = await session.save({ state: { paid: true } })
  const fork = await store.fork(paid.id, { session: 'fork' })
  const [first] = await fork.list()
  await fork.save({ state: { more: true } })
  await fork.rewind(first?.id ?? '', { restore: 'state' })
  expect(await pay(fork)).toBe(1)
  expect(await pay(await store.fork(first?.id ?? '', { session: 'of the fork' }))).toBe(1)
  await session.rewind(before.id, { restore: 'state' })
  expect(await pay(await store.fork(paid.id, { session: 'of what was left' }))).toBe(1)
  expect(runs()).toBe(1)
  expect(await pay(await store.fork(before.id, { session: 'from before' }))).toBe(2)
})

test('the calls that count at a checkpoint do not depend on the checkpoints in between', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session('task')
  const { pay } = payments()
  const first = await session.save({ state: { n: 0 } })
  const other = await session.save({ state: { n: 1 } })
  await pay(session)
  const paid = await session.save({ state: { paid: true }, name: 'paid' })
  await session.rewind(other.id, { restore: 'state' })
  const unpaid = await session.save({ state: { paid: false }, name: 'unpaid' })
  await session.rewind(first.id, { restore: 'state' })
  for (let n = 0; n < 60; n++) await session.save({ state: { n } })
  expect((await session.prune()).dropped).toContain(other.id)
  await session.rewind(paid.id, { restore: 'state' })
  expect(await pay(session)).toBe(1)
  await session.rewind(unpaid.id, { restore: 'state' })
  expect(await pay(session)).toBe(2)
})

test('undoing a rewind restores the calls before it, also those after the last checkpoint', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('task', { project })
  const { pay } = payments()
  const late = () => session.tool({ id: 'late', name: 'late' }, () => 'ran')
  const before = await session.save({ state: {}, files: true })
  await pay(session)
  s.write({ 'a.txt': 'two' })
  await session.save({ state: { paid: true }, files: true })
  await session.tool({ id: 'late', name: 'late' }, () => 'first')
  await session.rewind(before.id, { restore: 'both' })
  await session.tool({ id: 'since', name: 'since' }, () => 'first')
  await project.undo()
  expect(await session.stateAt()).toEqual({ paid: true })
  expect([await pay(session), await late()]).toEqual([1, 'first'])
  expect(await session.tool({ id: 'since', name: 'since' }, () => 'second')).toBe('second')
  await project.redo()
  expect([await pay(session), await late()]).toEqual([2, 'ran'])
})

test('a call that was reverted while it ran has its outcome after the undo', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const session = await store.session('task')
  const before = await session.save({ state: {} })
  let finish: (result: string) => void = () => undefined
  const result = new Promise<string>((resolve) => {
    finish = resolve
  })
  const call = session.tool({ id: 'slow', name: 'slow' }, (run) => {
    run.partial('half')
    return result
  })
  const during = await session.save({ state: { begun: true } })
  await session.rewind(before.id, { restore: 'state' })
  expect(await session.inFlight()).toEqual([])
  await session.rewind(during.id, { restore: 'state' })
  expect((await session.inFlight()).map(({ partials }) => partials)).toEqual([['half']])
  await session.rewind(before.id, { restore: 'state' })
  finish('done')
  expect(await call).toBe('done')
  await session.rewind(during.id, { restore: 'state' })
  expect(await session.tool({ id: 'slow', name: 'slow' }, () => 'ran')).toBe('done')
  expect(await session.inFlight()).toEqual([])
})

test('a result that cannot be stored is refused, and the call stays in flight', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session('task')
  const call = session.tool({ id: 'c', name: 't' }, () => ({ run: () => 1 }))
  expect(await codeOf(call)).toBe('STATE_UNSTORABLE')
  expect((await session.inFlight()).map(({ id }) => id)).toEqual(['c'])
})

test('a session whose folder is gone can be resumed, and its brief says so', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const session = await store.session('task', { project: await store.project(s.project) })
  await session.save({ state: { messages: [] }, files: true })
  await session.close()
  rmSync(s.project, { recursive: true })
  const resumed = await store.resume('task')
  expect(resumed.state).toEqual({ messages: [] })
  expect(resumed.notices).toEqual([expect.stringContaining('no folder')])
  expect(resumed.brief()).toContain('no folder')
})

test('a step and a tool with the same stored id are different calls', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session('task')
  expect(await session.step('x', () => 'step')).toBe('step')
  await expect(session.tool({ id: 'once:x', name: 'tool' }, () => 'tool')).rejects.toMatchObject({
    code: 'BAD_INPUT',
    hint: expect.stringContaining('session.step'),
  })
  expect(await session.tool({ id: 'once', name: 'tool' }, () => 'tool')).toBe('tool')
  expect(await session.step('x', () => 'again')).toBe('step')
})

test('two attempts at one call in the same millisecond keep their own outcomes', async () => {
  await using s = await scratch()
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const now = Date.now()
  const session = await (await s.open({ clock: { nowMs: () => now, random } })).session<unknown>(
    'task',
  )
  const call = (result: string) => session.tool({ id: 'c1', name: 'n' }, () => result)
  const before = await session.save({ state: 0 })
  expect(await call('first')).toBe('first')
  const first = await session.save({ state: 1 })
  await session.rewind(before.id, { restore: 'state' })
  expect(await call('second')).toBe('second')
  const second = await session.save({ state: 2 })
  await session.rewind(first.id, { restore: 'state' })
  expect(await call('third')).toBe('first')
  await session.rewind(second.id, { restore: 'state' })
  expect(await call('third')).toBe('second')
})

test('partial results belong to their own attempt, and a call that has ended adds none', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session<unknown>('task')
  const runs: { readonly partial: (value: unknown) => void; readonly end: (it: string) => void }[] =
    []
  const begin = async () => {
    const before = runs.length
    const call = session.tool({ id: 'c1', name: 'n' }, (run) => {
      const partial = (value: unknown) => run.partial(value)
      return new Promise<string>((end) => runs.push({ partial, end }))
    })
    while (runs.length === before) await new Promise(setImmediate)
    return { call }
  }
  const partials = async () => (await session.inFlight()).flatMap((it) => it.partials)
  const { id } = await session.save({ state: 0 })
  const first = await begin()
  runs[0]?.partial('of the first')
  runs[0]?.end('first')
  expect(await first.call).toBe('first')
  await session.rewind(id, { restore: 'state' })
  const second = await begin()
  runs[1]?.partial('of the second')
  runs[0]?.partial('late')
  expect(await partials()).toEqual(['of the second'])
  runs[1]?.end('second')
  await second.call
  runs[1]?.partial('late')
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  expect(ledger.prepare('SELECT * FROM partials').all()).toEqual([])
  ledger.close()
})

test('partial results of a dead call do not count for the next attempt', async () => {
  await using s = await scratch()
  await expect(inChild(s, DIES_IN_CALL)).rejects.toMatchObject({ signal: 'SIGKILL' })
  const { session, inFlight } = await (await s.open()).resume('task')
  expect(inFlight.map((it) => it.partials)).toEqual([['half ', 'a mail']])
  await session.resolveToolCall('c2', { as: 'retry' })
  await session.tool({ id: 'c2', name: 'send' }, async (run) => {
    run.partial('a ')
    expect((await session.inFlight()).map((it) => it.partials)).toEqual([['a ']])
  })
})

test('a decision stays even if the call ends later', async () => {
  await using s = await scratch()
  const session = await (await s.open()).session<unknown>('task')
  for (const action of ['confirmed', 'skipped'] as const) {
    const call = (run: () => unknown) => session.tool({ id: action, name: 'n' }, run)
    let end = (_result: string) => {}
    const running = call(() => new Promise((resolve) => (end = resolve)))
    const decided = action === 'confirmed' ? 'decided' : undefined
    await session.resolveToolCall(action, { as: action, result: decided })
    expect(await call(() => 'ran')).toBe(decided)
    end('ended')
    expect(await running).toBe('ended')
    expect(await call(() => 'ran')).toBe(decided)
  }
})
