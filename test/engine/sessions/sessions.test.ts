// Sessions through the SDK. See docs/internals/sessions.md.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { expect, test } from 'vitest'
import type { AgentState, PlanDetails, Session, Store } from '../../../src/index.js'
import { setStore } from '../prune/prune-helpers.js'
import { type Scratch, scratchWithThreads as scratch } from '../../support/scratch.js'
import { exportOf } from '../../support/export-of.js'

const codeOf = (promise: Promise<unknown>) =>
  promise.then(
    () => 'none',
    (error: unknown) => (error as { code?: string }).code ?? String(error),
  )

async function opened<State = AgentState>(
  s: Scratch,
): Promise<{ readonly store: Store; readonly session: Session<State> }> {
  const store = await s.open()
  return { store, session: await store.session<State>('task', { agent: 'coder' }) }
}

/** Two points of a session that works in a folder; `point` is the first. */
async function savedTwice(s: Scratch) {
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('task', { project })
  const point = await session.save({ state: { v: 'A' }, files: true })
  s.write({ 'a.txt': 'two' })
  await session.save({ state: { v: 'B' }, files: true })
  return { store, project, session, point }
}

test('every step restores its state, and the caller keeps its own object', async () => {
  await using s = await scratch()
  const { session } = await opened(s)
  const state = {
    messages: [{ role: 'user', content: 'hello', at: new Date(5) }],
    seen: new Set([1]),
  }
  const first = await session.save({ state, reason: 'begun' })
  state.messages.push({ role: 'agent', content: 'hi', at: new Date(6) })
  state.messages[0] = { role: 'user', content: 'changed', at: new Date(5) }
  const second = await session.save({ state })
  expect([first.step, second.step, second.status]).toEqual([0, 1, 'in_progress'])
  expect(await session.stateAt(first.id)).toEqual({
    messages: [{ role: 'user', content: 'hello', at: new Date(5) }],
    seen: new Set([1]),
  })
  expect(await session.stateAt()).toEqual(state)
  expect(await session.stateAt(undefined, { keys: ['messages'] })).toEqual({
    messages: state.messages,
  })
})

test('a save detects a change in place deep inside an old message', async () => {
  await using s = await scratch()
  const { session } = await opened(s)
  const state = { messages: Array.from({ length: 100 }, (_, n) => ({ role: 'u', content: { n } })) }
  await session.save({ state })
  const message = state.messages[3]
  if (message !== undefined) message.content.n = -1
  await session.save({ state })
  expect(await session.stateAt()).toEqual(state)
})

test('append gives the same state as saving the whole', async () => {
  await using s = await scratch()
  const { session } = await opened(s)
  await session.save({ state: { messages: [{ role: 'a', content: '1' }] } })
  await session.append('messages', [{ role: 'b', content: '2' }], { reason: 'more' })
  await session.append('toolCalls', [])
  expect(await session.stateAt()).toEqual({
    messages: [
      { role: 'a', content: '1' },
      { role: 'b', content: '2' },
    ],
    toolCalls: [],
  })
})

test('a value that cannot be stored is refused with its path, and nothing is written', async () => {
  await using s = await scratch()
  const { session } = await opened(s)
  const state = { messages: [{ role: 'u', content: { run: () => 1 } }] }
  await expect(session.save({ state })).rejects.toMatchObject({
    code: 'STATE_UNSTORABLE',
    message: expect.stringContaining('messages[0].content.run'),
  })
  expect(await session.list()).toEqual([])
  await session.save({ state: { messages: [] } })
  expect((await session.list()).length).toBe(1)
})

test('queries: by name newest first, latest, since, between, summary, pages', async () => {
  await using s = await scratch()
  let now = 1_800_000_000_000
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const store = await s.open({ clock: { nowMs: () => (now += 1000), random } })
  const session = await store.session('task')
  for (const name of ['plan', 'test', 'plan', undefined, 'test'])
    await session.save({ state: { name }, ...(name === undefined ? {} : { name }) })
  const all = [...(await session.list())].reverse()
  expect((await session.list({ name: 'plan' })).map(({ step }) => step)).toEqual([2, 0])
  expect((await session.latest({ name: 'test' }))?.step).toBe(4)
  expect((await session.latest())?.step).toBe(4)
  expect(await session.latest({ name: 'absent' })).toBeUndefined()
  const at = (n: number) => new Date(all[n]?.createdAt ?? '')
  expect((await session.list({ since: at(3) })).map(({ step }) => step)).toEqual([4, 3])
  const within = { since: at(1), until: at(3) }
  expect((await session.list(within)).map(({ step }) => step)).toEqual([3, 2, 1])
  expect([await session.count(within), await session.count({ name: 'plan' })]).toEqual([3, 2])
  const before = all[2]?.id ?? ''
  expect((await session.list({ before })).map(({ step }) => step)).toEqual([1, 0])
  const summary = await session.summary()
  expect(summary).toMatchObject({ total: 5, uniqueNames: 2, countByName: { plan: 2, test: 2 } })
  expect(summary.seconds).toBeGreaterThan(0)
  const steps: (number | null)[] = []
  for await (const { step } of session.iterate()) steps.push(step)
  expect(steps).toEqual([4, 3, 2, 1, 0])
})

test('statuses: in progress, completed, failed and halted with a reason; a save continues the session', async () => {
  await using s = await scratch()
  const { session, store } = await opened(s)
  expect((await session.complete()).status).toBe('completed')
  expect((await session.fail('no money')).status).toBe('failed: no money')
  expect((await session.halt('asked to')).status).toBe('halted: asked to')
  expect((await store.sessions({ status: 'halted' })).map(({ id }) => id)).toEqual(['task'])
  expect((await session.save({ status: { state: 'failed', reason: 'x' } })).status).toBe(
    'failed: x',
  )
  expect((await session.save()).status).toBe('in_progress')
})

test('any text is a session id, and sessions do not touch each other', async () => {
  await using s = await scratch()
  const store = await s.open()
  const ids = ['../../etc/passwd', 'sess1', 'sess1_x', '__proto__', 'ünï\n', 'x'.repeat(200)]
  for (const id of ids) {
    const session = await store.session(id)
    await session.save({ state: { id } })
    expect(await codeOf(store.deleteSession(id))).toBe('SESSION_BUSY')
    await session.close()
  }
  for (const id of ids) {
    const session = await store.session(id, { lease: false })
    expect(await session.stateAt()).toEqual({ id })
  }
  expect(await store.deleteSession('sess1')).toBe(1)
  expect((await store.sessions()).map(({ id }) => id).sort()).toEqual(
    ids.filter((id) => id !== 'sess1').sort(),
  )
  expect(await store.deleteSession('sess1')).toBe(0)
  expect(await codeOf(store.session('x'.repeat(201)))).toBe('BAD_INPUT')
  expect(await codeOf(store.session(''))).toBe('BAD_INPUT')
})

test('a save checks ifHead, and an operationId makes a retry harmless', async () => {
  await using s = await scratch()
  const { session } = await opened<unknown>(s)
  const first = await session.save({ state: 1, ifHead: null, operationId: 'op-1' })
  const again = await session.save({ state: 2, operationId: 'op-1' })
  expect([again.id, again.created]).toEqual([first.id, false])
  expect(await codeOf(session.save({ state: 3, ifHead: null }))).toBe('HEAD_MOVED')
  const next = await session.save({ state: 3, ifHead: first.id })
  expect(next.step).toBe(1)
  expect(await session.stateAt()).toBe(3)
})

test('a second opener gets SESSION_BUSY with the owner; after close it can open the session', async () => {
  await using s = await scratch()
  const { session, store } = await opened(s)
  const second = await s.open()
  await expect(second.session('task')).rejects.toMatchObject({
    code: 'SESSION_BUSY',
    message: expect.stringContaining(String(process.pid)),
  })
  await session.close()
  await (await second.session<unknown>('task')).save({ state: 1 })
  expect((await store.sessions())[0]?.steps).toBe(1)
})

test('a writer that lost its lease can never write again, and a deleted session stays deleted', async () => {
  await using s = await scratch()
  let now = Date.now()
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  const store = await s.open()
  const slow = await store.session<unknown>('task')
  await slow.save({ state: 'slow' })
  // By the other process's clock the lease has expired.
  const elsewhere = await s.open({ clock: { nowMs: () => now + 60_000, random } })
  now += 60_000
  const quick = await elsewhere.session<unknown>('task')
  await quick.save({ state: 'quick' })
  expect(await codeOf(slow.save({ state: 'late' }))).toBe('SESSION_FENCED')
  expect(await codeOf(slow.tool({ id: 't', name: 't' }, () => 1))).toBe('SESSION_FENCED')
  expect(await quick.stateAt()).toBe('quick')
  expect(await quick.delete()).toBe(2)
  expect(await codeOf(quick.save({ state: 'later' }))).toBe('SESSION_DELETED')
  const anew = await elsewhere.session<unknown>('task')
  expect((await anew.save({ state: 'anew' })).step).toBe(0)
})

test('forks share all content, change independently, and outlive their origin', async () => {
  await using s = await scratch()
  const { session, store } = await opened(s)
  const messages = Array.from({ length: 50 }, (_, n) => ({ role: 'u', content: `${n}` }))
  const point = await session.save({ state: { messages } })
  await session.tool({ id: 'early', name: 't' }, () => 'done')
  await session.save({ state: { messages: [] } })
  const a = await store.fork(point.id, { session: 'a' })
  const b = await store.fork('1', { of: 'a', session: 'b' })
  await a.append('messages', [{ role: 'a', content: 'a' }])
  await b.append('messages', [{ role: 'b', content: 'b' }])
  expect((await a.stateAt())?.messages?.at(-1)).toEqual({ role: 'a', content: 'a' })
  expect((await b.stateAt())?.messages?.at(-1)).toEqual({ role: 'b', content: 'b' })
  expect(await session.stateAt()).toEqual({ messages: [] })
  await session.delete()
  expect((await b.stateAt())?.messages?.length).toBe(51)
  expect((await store.sessions()).find(({ id }) => id === 'a')?.forkedFrom).toBe(point.id)
  expect(await codeOf(store.fork(point.id, { session: 'a' }))).toBe('CHECKPOINT_UNKNOWN')
})

test('a rewind restores files and state together, and undo reverts both', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('task', { project })
  const point = await session.save({ state: { at: 1 }, files: true })
  s.write({ 'a.txt': 'two', 'b.txt': 'new' })
  await session.save({ state: { at: 2 }, files: true })
  const result = await session.rewind(point.id, { restore: 'both' })
  expect(result).toMatchObject({ applied: true, restored: 'both' })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  expect(await session.stateAt()).toEqual({ at: 1 })
  const [newest] = await session.list()
  expect(newest).toMatchObject({ kind: 'rewind', hasState: true, hasFiles: true, step: 2 })
  await project.undo()
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two')
  expect(await session.stateAt()).toEqual({ at: 2 })
  await project.redo()
  expect(await session.stateAt()).toEqual({ at: 1 })
})

test('undo and redo restore the state even if the files already match', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project, session, point } = await savedTwice(s)
  await session.rewind(point.id, { restore: 'both' })
  s.write({ 'a.txt': 'two' })
  expect(await project.undo({ dryRun: true })).toMatchObject({ applied: false, session: 'task' })
  const confirm = async (_plan: unknown, facts: PlanDetails) => facts.session !== 'task'
  expect(await project.undo({ confirm })).toMatchObject({ declined: true })
  expect(await session.stateAt()).toEqual({ v: 'A' })
  expect(await project.undo()).toMatchObject({
    applied: true,
    session: 'task',
    plan: { write: [], remove: [] },
  })
  expect(await session.stateAt()).toEqual({ v: 'B' })
  s.write({ 'a.txt': 'one' })
  expect(await project.redo()).toMatchObject({ applied: true, session: 'task' })
  expect(await session.stateAt()).toEqual({ v: 'A' })
  expect(await codeOf(project.redo())).toBe('NOTHING_TO_REDO')
})

test('undo of a files-only rewind keeps the state and later saves', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project, session, point } = await savedTwice(s)
  let runs = 0
  const call = () => session.tool({ id: 'c', name: 'c' }, () => ++runs)
  await call()
  await session.rewind(point.id, { restore: 'files' })
  await session.save({ state: { v: 'C' } })
  await session.append('m', ['precious'])
  const expected = { v: 'C', m: ['precious'] }
  expect(await project.undo()).not.toHaveProperty('left')
  expect([readFileSync(join(s.project, 'a.txt'), 'utf8'), await session.stateAt()]).toEqual([
    'two',
    expected,
  ])
  await project.redo()
  expect([readFileSync(join(s.project, 'a.txt'), 'utf8'), await session.stateAt()]).toEqual([
    'one',
    expected,
  ])
  expect(await call()).toBe(1)
})

test('undo and redo list what the session has saved since, and keep it', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project, session, point } = await savedTwice(s)
  await session.rewind(point.id, { restore: 'both' })
  const since = await session.save({ state: { v: 'C' } })
  const notices: string[] = []
  const hooks = { onWarning: (text: string) => void notices.push(text) }
  expect(await project.undo({ dryRun: true, ...hooks })).toMatchObject({ left: since.id })
  expect(await session.stateAt()).toEqual({ v: 'C' })
  expect(await project.undo(hooks)).toMatchObject({ applied: true, left: since.id })
  expect(notices).toEqual([expect.stringContaining(since.id), expect.stringContaining(since.id)])
  expect(await session.stateAt()).toEqual({ v: 'B' })
  expect(await session.stateAt(since.id)).toEqual({ v: 'C' })
  expect(await project.redo(hooks)).not.toHaveProperty('left')
  expect(notices.length).toBe(2)
  expect(await session.stateAt()).toEqual({ v: 'A' })
})

test('a files-only rewind keeps the state, a state-only rewind keeps the files', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const session = await store.session('task', { project })
  const point = await session.save({ state: { at: 1 }, files: true })
  s.write({ 'a.txt': 'two' })
  await session.save({ state: { at: 2 } })
  await session.rewind(point.id, { restore: 'state' })
  expect(await session.stateAt()).toEqual({ at: 1 })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two')
  await session.save({ state: { at: 3 } })
  await session.rewind(point.id, { restore: 'files' })
  expect(await session.stateAt()).toEqual({ at: 3 })
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  const stateless = await session.save({ files: true })
  await session.rewind(point.id, { restore: 'both', dryRun: true })
  expect((await session.latest())?.id).toBe(stateless.id)
})

test('ensure saves once in a turn, only if something changed, and a failure does not use up the turn', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const store = await s.open({ limits: { maxFiles: 2 } })
  const project = await store.project(s.project)
  const session = await store.session('task', { project })
  s.write({ b: '', c: '' })
  expect(await codeOf(session.saveOncePerTurn({ reason: 'before' }))).toBe('TOO_MANY_FILES')
  s.write({ b: null, c: null })
  expect(await session.saveOncePerTurn({ reason: 'before' })).toMatchObject({
    created: true,
    reason: 'before',
  })
  s.write({ 'a.txt': 'two' })
  expect(await session.saveOncePerTurn({ reason: 'again' })).toEqual({
    created: false,
    reason: 'once-per-turn',
  })
  expect(await session.newTurn()).toBe(1)
  expect(await session.saveOncePerTurn({ reason: 'next' })).toMatchObject({ created: true })
  await session.newTurn()
  expect(await session.saveOncePerTurn({ reason: 'same' })).toEqual({
    created: false,
    reason: 'unchanged',
  })
  expect(await codeOf((await store.session('no project')).saveOncePerTurn({ reason: 'x' }))).toBe(
    'BAD_INPUT',
  )
})

test('listeners are called for saves and rewinds, and one that throws breaks nothing', async () => {
  await using s = await scratch()
  const { session } = await opened<unknown>(s)
  const heard: (number | null)[] = []
  const listener = ({ step }: { step: number | null }) => heard.push(step)
  session.on('saved', listener)
  const first = new Promise((resolve) => session.once('saved', ({ step }) => resolve(step)))
  session.on('saved', () => {
    throw new Error('a listener that throws')
  })
  await session.save({ state: {} })
  await session.save({ state: 2 })
  session.off('saved', listener)
  await session.save({ state: 3 })
  expect([heard, await first]).toEqual([[0, 1], 0])
})

test('export and import keep every checkpoint, and a second import adds nothing', async () => {
  await using s = await scratch()
  const { session, store } = await opened(s)
  await session.save({ name: 'plan', state: { n: 1 }, metadata: { by: 'me' } })
  await session.save({ name: 'test', state: { n: 2 } })
  const exported = await exportOf(session)
  expect(exported).toEqual([
    {
      id: expect.any(String),
      name: 'plan',
      timestamp: expect.any(String),
      data: { n: 1 },
      metadata: { by: 'me' },
    },
    {
      id: expect.any(String),
      name: 'test',
      timestamp: expect.any(String),
      changes: [{ path: ['n'], set: 2 }],
      metadata: {},
    },
  ])
  const other = await store.session('other')
  const foreign = {
    id: 'sess:1',
    name: 'old',
    timestamp: '2024-01-02T03:04:05',
    data: [1],
    metadata: {},
  }
  expect(await other.import([...exported, foreign])).toEqual({ imported: 3, known: 0 })
  expect(await other.import([...exported, foreign])).toEqual({ imported: 0, known: 3 })
  expect(await other.stateAt('old')).toEqual([1])
  expect((await other.latest({ name: 'old' }))?.createdAt).toEqual(
    new Date('2024-01-02T03:04:05.000Z'),
  )
  expect(await exportOf(other)).toEqual([
    ...exported,
    { ...foreign, timestamp: '2024-01-02T03:04:05.000Z' },
  ])
  expect(await session.import(exported)).toEqual({ imported: 0, known: 2 })
})

test('a prune of a session removes what the policy says, and every remaining checkpoint is readable', async () => {
  await using s = await scratch()
  const { session } = await opened(s)
  const messages: { role: string; content: string }[] = []
  for (let n = 0; n < 60; n++) {
    messages.push({ role: 'u', content: `${n}` })
    await session.save({ state: { messages }, ...(n === 7 ? { name: 'milestone' } : {}) })
  }
  const plan = await session.prune({ dryRun: true })
  expect([plan.applied, plan.dropped.length]).toEqual([false, 38])
  expect((await session.prune()).dropped).toEqual(plan.dropped)
  const kept = await session.list()
  expect(kept.map(({ step }) => step)).toEqual([
    ...Array.from({ length: 20 }, (_, n) => 59 - n),
    7,
    0,
  ])
  for (const { id, step } of kept)
    expect((await session.stateAt(id))?.messages?.length).toBe((step ?? 0) + 1)
})

test('after a prune of a session the parents are consistent, and a retry of a remaining operation adds nothing', async () => {
  await using s = await scratch()
  const { session } = await opened<{ n: number }>(s)
  const save = (n: number) =>
    session.save({
      state: { n },
      operationId: `op ${n}`,
      ...(n % 10 === 0 ? { name: `ten ${n}` } : {}),
    })
  for (let n = 0; n < 60; n++) await save(n)
  await session.prune()
  const kept = await session.list()
  const parents = await Promise.all(
    kept.map(async ({ id }) => (await session.show(id)).agent?.parent),
  )
  expect(parents).toEqual([...kept.slice(1).map(({ id }) => id), null])
  for (const { id, step } of kept)
    expect(await save(step ?? -1)).toMatchObject({ created: false, id })
  expect(await session.stateAt()).toEqual({ n: 59 })
})

test('prunes of the session and of the store keep what an undo needs', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { store, project, session, point } = await savedTwice(s)
  await session.save({ state: { v: 'B2' } })
  await session.rewind(point.id, { restore: 'both' })
  for (let n = 0; n < 60; n++) await session.save({ state: { v: `C${n}` } })
  expect((await session.prune()).dropped.length).toBe(40)
  await session.complete()
  await store.prune({ maxCheckpoints: 2 })
  await project.undo()
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('two')
  expect(await session.stateAt()).toEqual({ v: 'B2' })
})

test('an undo without the state before the rewind is refused and changes nothing', async () => {
  await using s = await scratch({ files: { 'a.txt': 'one' } })
  const { project, session, point } = await savedTwice(s)
  const { id } = await session.save({ state: { v: 'B2' } })
  await session.rewind(point.id, { restore: 'both' })
  const ledger = new DatabaseSync(join(s.home, 'ledger.db'))
  ledger.prepare('DELETE FROM checkpoints WHERE id = ?').run(id)
  ledger.close()
  expect(await codeOf(project.undo())).toBe('CHECKPOINT_PARTIAL')
  expect(readFileSync(join(s.project, 'a.txt'), 'utf8')).toBe('one')
  expect(await session.stateAt()).toEqual({ v: 'A' })
})

test('paging continues after the last page even if its last checkpoint was removed', async () => {
  await using s = await scratch()
  const { session } = await opened(s)
  for (let n = 0; n < 160; n++) await session.save({ state: { n } })
  const steps: (number | null)[] = []
  for await (const { step } of session.iterate()) {
    steps.push(step)
    // The last checkpoint of this page is removed.
    if (step === 60) await session.prune()
  }
  expect(steps.slice(0, 100)).toEqual(Array.from({ length: 100 }, (_, n) => 159 - n))
  expect(steps.slice(100)).toEqual((await session.list()).map(({ step }) => step).slice(20))
  expect(steps.at(-1)).toBe(0)
})

test('paging before an unknown checkpoint is refused', async () => {
  await using s = await scratch()
  const { session, store } = await opened(s)
  await session.save({ state: {} })
  const { id } = await (await store.session('other')).save({ state: {} })
  for (const before of [id, 'bcdfghjklmnpqrstvw'])
    await expect(session.list({ before })).rejects.toMatchObject({ code: 'CHECKPOINT_UNKNOWN' })
})

test('metadata with an instance of a class is refused, and the hint is about metadata', async () => {
  await using s = await scratch()
  const { session } = await opened(s)
  class P {
    x = 1
  }
  await expect(session.save({ metadata: { p: new P() } })).rejects.toMatchObject({
    code: 'STATE_UNSTORABLE',
    message: expect.stringContaining('metadata.p'),
    hint: expect.stringContaining('Metadata cannot contain class instances'),
  })
})

test('a prune removes unused sessions, completed ones sooner, pinned ones never', async () => {
  await using s = await scratch({ files: { a: '1' } })
  const day = 86_400_000
  let now = Date.now()
  const random = (bytes: number) => crypto.getRandomValues(new Uint8Array(bytes))
  setStore(s, { retention: 'hermes' })
  const store = await s.open({ clock: { nowMs: () => now, random } })
  const project = await store.project(s.project)
  for (const id of ['done', 'open', 'pinned']) {
    const session = await store.session<unknown>(id, { project })
    const { id: checkpoint } = await session.save({ state: id, files: true })
    if (id === 'pinned') await project.pin(checkpoint)
    if (id !== 'open') await session.complete()
    await session.close()
  }
  now += 2 * day
  const removed = async (dryRun = false) =>
    (await store.prune({ dryRun })).plan.sessions.map(({ id }) => id)
  expect(await removed(true)).toEqual(['done'])
  expect(await removed()).toEqual(['done'])
  now += 6 * day
  expect(await removed()).toEqual(['open'])
  expect((await store.sessions()).map(({ id }) => id)).toEqual(['pinned'])
})
