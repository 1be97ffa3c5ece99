// Sessions of the older systems: task files of Hermes, steps of ares, exports of Breakpilot.
import { mkdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { importFrom } from '../../src/imports/index.js'
import type { Progress, Store } from '../../src/index.js'
import { type Scratch, scratch } from '../support/scratch.js'
import { exportOf } from '../support/export-of.js'

const write = (folder: string, files: Readonly<Record<string, unknown>>) => {
  mkdirSync(folder, { recursive: true })
  for (const [name, content] of Object.entries(files))
    writeFileSync(
      join(folder, name),
      typeof content === 'string' ? content : JSON.stringify(content),
    )
  return folder
}
const messagesOf = (problems: readonly { source: string; message: string }[], folder: string) =>
  Object.fromEntries(
    problems.map(({ source, message }) => [source.replace(`${folder}/`, ''), message]),
  )

async function sessionsOf(store: Store): Promise<unknown> {
  const sessions = await store.sessions()
  const facts = sessions.map(async ({ id, agent, status, createdAt }) => {
    const session = await store.session<unknown>(id, { lease: false })
    const checkpoints = [...(await session.list())].reverse()
    const times = checkpoints.map((each) => each.createdAt.toISOString())
    return {
      id,
      agent,
      status,
      createdAt: createdAt.toISOString(),
      times,
      states: await states(checkpoints.length),
    }

    async function states(count: number): Promise<unknown[]> {
      const all: unknown[] = []
      for (let n = count; n >= 1; n--) all.push(await session.stateAt(String(n)))
      return all
    }
  })
  return (await Promise.all(facts)).sort((a, b) => (a.id < b.id ? -1 : 1))
}

test('task files become sessions with their status and time; malformed ones are reported', async () => {
  await using s = await scratch()
  const base = write(join(s.folder, 'hermes'), {
    'plain.yaml': "goal: x\nprogress: [a, b]\nupdated: '2025-11-15T12:00:00.5'\n",
    'done.yaml': 'status: completed\nupdated: 2025-11-15T12:00:00Z\n',
    'failed.yaml': 'status: failed\nreason: no network\nupdated: 2025-11-15T12:00:00Z\n',
    'paused.yaml': 'status: paused\n',
    'x.yaml': 'session_id: ../x\nstatus: halted\n',
    'list.yaml': '- a\n',
    'bomb.yaml': `a: &a [x, x]\n${'bcdefghijk'.replace(/./g, (c) => `${c}: &${c} [${`*${String.fromCharCode(c.charCodeAt(0) - 1)}, `.repeat(9)}]\n`)}`,
    'tag.yaml': 'a: !!python/object/apply:os.system ["touch x"]\n',
    'broken.yaml': 'a: [1\n',
    'deep.yaml': `a: ${'['.repeat(20_000)}`,
    'notes.txt': 'nothing of ours',
  })
  writeFileSync(join(base, 'latin.yaml'), Buffer.from('a: \xff\n', 'latin1'))
  symlinkSync('/etc/hostname', join(base, 'link.yaml'))
  utimesSync(join(base, 'paused.yaml'), 1_700_000_000, 1_700_000_000)
  utimesSync(join(base, 'x.yaml'), 1_700_000_000, 1_700_000_000)
  const before = s.hashTree(base)
  const store = await s.open()
  const progress: (readonly [number, number])[] = []
  const onProgress = ({ files, of }: Progress) => progress.push([files, of])
  const result = await importFrom(store, 'hermes', { path: base }, { onProgress })
  const total = result.plan.add
  expect(progress).toEqual(Array.from({ length: total }, (_, i) => [i + 1, total]))
  expect(result).toMatchObject({ applied: true, added: 5, known: 0 })
  expect(messagesOf(result.problems, base)).toEqual({
    'bomb.yaml': expect.stringContaining('alias'),
    'broken.yaml': expect.stringContaining('is not YAML'),
    'deep.yaml': 'it is nested deeper than 200 levels',
    'latin.yaml': 'it is not UTF-8 text',
    'link.yaml': 'it is not a regular file',
    'list.yaml': 'it does not contain a mapping',
    'tag.yaml': expect.stringContaining('tag'),
  })
  const local = new Date('2025-11-15T12:00:00.500').toISOString()
  const [noon, then] = ['2025-11-15T12:00:00.000Z', '2023-11-14T22:13:20.000Z']
  const one = (id: string, status: string, at: string, state: object) => ({
    id,
    agent: null,
    status,
    createdAt: at,
    times: [at],
    states: [state],
  })
  expect(await sessionsOf(store)).toEqual([
    one('../x', 'halted: ', then, { session_id: '../x', status: 'halted' }),
    one('done', 'completed', noon, { status: 'completed', updated: new Date(noon) }),
    one('failed', 'failed: no network', noon, {
      status: 'failed',
      reason: 'no network',
      updated: new Date(noon),
    }),
    one('paused', 'in_progress', then, { status: 'paused' }),
    one('plain', 'in_progress', local, {
      goal: 'x',
      progress: ['a', 'b'],
      updated: '2025-11-15T12:00:00.5',
    }),
  ])
  const paused = await store.session('paused', { lease: false })
  const shown = await paused.show('1')
  expect(shown).toMatchObject({ kind: 'imported', agent: { metadata: { status: 'paused' } } })
  expect(await importFrom(store, 'hermes', { path: base })).toMatchObject({ added: 0, known: 5 })
  expect(s.hashTree(base)).toEqual(before)

  // The file is overwritten: the session continues.
  write(base, { 'plain.yaml': 'goal: y\nstatus: completed\nupdated: 2025-11-16T12:00:00Z\n' })
  expect(await importFrom(store, 'hermes', { path: base })).toMatchObject({ added: 1, known: 4 })
  const plain = await store.session<unknown>('plain', { lease: false })
  expect(await plain.stateAt()).toMatchObject({ goal: 'y' })
  expect((await plain.list()).map(({ createdAt }) => createdAt.toISOString())).toEqual([
    '2025-11-16T12:00:00.000Z',
    local,
  ])
  expect((await store.verify()).problems).toEqual([])
})

const step = (session: string, n: number, more: object = {}) => ({
  id: `cp-${n}`,
  agent_name: 'coder',
  session_id: session,
  step: n,
  messages: [{ role: 'user', content: `hello ${n}` }],
  tool_calls: [{ tool_name: 'grep', arguments: { q: 'x' }, result: null, success: false }],
  partial_results: ['half'],
  timestamp: 1_700_000_000 + n,
  status: 'InProgress',
  extra: { kept: true },
  ...more,
})

test('steps of ares become sessions by their exact ids', async () => {
  await using s = await scratch()
  const base = write(join(s.folder, 'ares'), {
    'sess1_0.json': step('sess1', 0),
    'sess1_1.json': step('sess1', 1),
    'sess1_2.json': step('sess1', 2, { status: { Failed: 'out of tokens' } }),
    'sess1_10.json': step('sess1', 10, { status: { Halted: 'by hand' } }),
    'sess1_latest.json': 'sess1_10.json',
    'sess1_x_0.json': step('sess1_x', 0, { status: 'Completed', agent_name: null }),
    'sess1_x_latest.json': '"sess1_x_0.json"',
    'odd_0.json': step('odd', 0, { status: 'Paused' }),
    'wrong_0.json': step('other', 0),
    'broken_0.json': '{"session_id": ',
    'list_0.json': [1],
    'negative_0.json': step('negative', -1),
    'gone_latest.json': 'gone_7.json',
    'readme.txt': 'x',
  })
  mkdirSync(join(base, 'folder_0.json'))
  const before = s.hashTree(base)
  const store = await s.open()
  const result = await importFrom(store, 'ares', { path: base })
  expect(result).toMatchObject({ applied: true, added: 6, known: 0 })
  expect(messagesOf(result.problems, base)).toEqual({
    'broken_0.json': 'it is not JSON',
    'folder_0.json': 'it is not a regular file',
    'gone_latest.json': 'it names "gone_7.json", which does not exist',
    'list_0.json': expect.stringContaining('it is not an ares checkpoint'),
    'negative_0.json': expect.stringContaining('it is not an ares checkpoint: step'),
    'wrong_0.json': 'it contains step 0 of "other", which does not match its file name',
  })
  const at = (n: number) => new Date((1_700_000_000 + n) * 1000).toISOString()
  const state = (session: string, n: number, more: object = {}) => {
    const { tool_calls: _calls, partial_results: partialResults, ...rest } = step(session, n, more)
    const toolCalls = [{ toolName: 'grep', arguments: { q: 'x' }, result: null, success: false }]
    return { ...rest, toolCalls, partialResults, ...more }
  }
  expect(await sessionsOf(store)).toEqual([
    {
      id: 'odd',
      agent: 'coder',
      status: 'in_progress',
      createdAt: at(0),
      times: [at(0)],
      states: [state('odd', 0, { status: 'Paused' })],
    },
    {
      id: 'sess1',
      agent: 'coder',
      status: 'halted: by hand',
      createdAt: at(0),
      times: [at(0), at(1), at(2), at(10)],
      states: [
        state('sess1', 0),
        state('sess1', 1),
        state('sess1', 2, { status: { Failed: 'out of tokens' } }),
        state('sess1', 10, { status: { Halted: 'by hand' } }),
      ],
    },
    {
      id: 'sess1_x',
      agent: null,
      status: 'completed',
      createdAt: at(0),
      times: [at(0)],
      states: [state('sess1_x', 0, { status: 'Completed', agent_name: null })],
    },
  ])
  const session = await store.session('sess1', { lease: false })
  expect((await session.list()).map(({ status, step: n }) => [n, status])).toEqual([
    [3, 'halted: by hand'],
    [2, 'failed: out of tokens'],
    [1, 'in_progress'],
    [0, 'in_progress'],
  ])
  expect(await importFrom(store, 'ares', { path: base })).toMatchObject({ added: 0, known: 6 })
  expect(s.hashTree(base)).toEqual(before)

  // ares continues: new steps are appended. A late step can no longer be inserted.
  write(base, { 'sess1_11.json': step('sess1', 11), 'sess1_5.json': step('sess1', 5) })
  const more = await importFrom(store, 'ares', { path: base })
  expect(more).toMatchObject({ added: 1, known: 6 })
  expect(messagesOf(more.problems, base)['sess1_5.json']).toContain('older than what was imported')
  const resumed = await store.resume('sess1')
  expect(resumed.state).toMatchObject({ messages: [{ content: 'hello 11' }] })
})

test('an import never appends to our own sessions', async () => {
  await using s = await scratch()
  const ares = write(join(s.folder, 'ares'), { 'mine_0.json': step('mine', 0) })
  const other = write(join(s.folder, 'other'), {
    'mine_0.json': step('mine', 0, { messages: [] }),
    'ours_0.json': step('ours', 0),
  })
  const store = await s.open()
  const mine = await store.session('mine')
  await mine.save({ state: { messages: [] } })
  await mine.close()
  const refused = await importFrom(store, 'ares', { path: ares })
  expect(refused).toMatchObject({ applied: false, added: 0, plan: { add: 0 } })
  expect(refused.problems).toEqual([
    {
      source: ares,
      message:
        'a session "mine" already exists and was not imported from here; import it under another name with --prefix TEXT',
    },
  ])
  expect(await importFrom(store, 'ares', { path: ares, prefix: 'ares/' })).toMatchObject({
    added: 1,
  })
  // Recognized by its origin, not by its name.
  expect(await importFrom(store, 'ares', { path: ares })).toMatchObject({
    added: 0,
    known: 1,
    problems: [],
  })
  expect((await mine.list()).length).toBe(1)

  // The same name, but another origin.
  expect(await importFrom(store, 'ares', { path: other, prefix: 'ares/' })).toMatchObject({
    added: 1,
    problems: [{ message: expect.stringContaining('a session "ares/mine" already exists') }],
  })
  // The session has continued here, so new steps from there cannot be appended.
  const ours = await store.session('ares/ours')
  await ours.save({ state: { messages: [] } })
  await ours.close()
  write(other, { 'ours_1.json': step('ours', 1) })
  const { problems } = await importFrom(store, 'ares', { path: other, prefix: 'ares/' })
  expect(problems.map(({ message }) => message)).toContainEqual(
    expect.stringContaining('the session "ares/ours" has continued here since it was imported'),
  )
  // Another process holds its lease.
  const held = await store.session('ares/mine')
  write(ares, { 'mine_1.json': step('mine', 1) })
  expect((await importFrom(store, 'ares', { path: ares })).problems).toEqual([
    { source: ares, message: 'the session "ares/mine" is in use' },
  ])
  await held.close()
  expect(await importFrom(store, 'ares', { path: ares })).toMatchObject({
    added: 1,
    known: 1,
    problems: [],
  })
})

test('an export of Breakpilot becomes the sessions that its ids name, or the given one', async () => {
  await using s = await scratch()
  const item = (id: string, more: object = {}) => ({
    id,
    name: 'begun',
    timestamp: '2025-11-15T12:00:00',
    data: { n: id },
    metadata: { cost: 1 },
    ...more,
  })
  write(s.folder, {
    'list.json': [
      item('run:a:1'),
      item('run:a:2', { name: 'many\nlines' }),
      item('run:a:2'),
      item('b:1', { timestamp: '2025-11-15T12:00:00+02:00' }),
      item('plain'),
      item('b:2', { timestamp: 'soon' }),
      7,
      item('b:3', { data: undefined, changes: [] }),
    ],
    'object.json': {},
  })
  const file = join(s.folder, 'list.json')
  const store = await s.open()
  const result = await importFrom(store, 'breakpilot', { path: file })
  expect(result).toMatchObject({ added: 3, known: 0 })
  expect(messagesOf(result.problems, s.folder)).toEqual({
    'list.json item 5': 'its id, "plain", names no session; name one with --session',
    'list.json item 6': '"soon" is not a time',
    'list.json item 7': expect.stringContaining('it is not a checkpoint'),
    'list.json item 8': 'it is from an export of Savestate; use `savestate import json`',
  })
  const again = await importFrom(store, 'breakpilot', { path: file })
  expect(again).toMatchObject({ added: 0, known: 4 })
  const session = await store.session<unknown>('run:a', { lease: false })
  expect(
    (await session.list()).map(({ name, reason, createdAt }) => [
      name,
      reason,
      createdAt.toISOString(),
    ]),
  ).toEqual([
    [null, 'many\nlines', '2025-11-15T12:00:00.000Z'],
    ['begun', null, '2025-11-15T12:00:00.000Z'],
  ])
  expect(await session.stateAt('2')).toEqual({ n: 'run:a:1' })
  expect((await exportOf(session)).map(({ id, metadata }) => [id, metadata])).toEqual([
    ['run:a:1', { cost: 1 }],
    ['run:a:2', { cost: 1 }],
  ])
  expect(await importFrom(store, 'breakpilot', { path: file, session: 'all' })).toMatchObject({
    added: 4,
  })
  expect(await importFrom(store, 'breakpilot', { path: file, session: 'all' })).toMatchObject({
    added: 0,
  })
  await expect(
    importFrom(store, 'breakpilot', { path: join(s.folder, 'object.json') }),
  ).rejects.toMatchObject({
    code: 'BAD_INPUT',
  })
  await expect(importFrom(store, 'ares', { path: s.folder, session: 'x' })).rejects.toMatchObject({
    code: 'BAD_INPUT',
  })
})

test('in the list, imported states come after our own checkpoints', async () => {
  await using s: Scratch = await scratch({ files: { 'a.txt': 'a' } })
  const store = await s.open()
  const project = await store.project(s.project)
  const own = await project.save()
  await importFrom(store, 'ares', {
    path: write(join(s.folder, 'ares'), { 'x_0.json': step('x', 0) }),
  })
  const checkpoints = await store.list()
  expect(checkpoints.map(({ kind }) => kind)).toEqual(['save', 'imported'])
  expect(checkpoints[0]?.id).toBe(own.id)
})
