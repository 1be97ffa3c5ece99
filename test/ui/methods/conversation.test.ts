// Conversations of sessions: slices, secrets, and what cannot be read.
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DatabaseSync } from '../../support/own-sqlite.js'
import { openPage } from '../page-helpers.js'

const KEY = 'sk-ant-api03-q9Xw3Zr7Kd5Lm1Np8Vt2Bs6Yc4Hf0Jg-AbCdEfGh'
const message = (role: string, content: string) => ({ role, content })

test('a session with its checkpoints, and slices of its conversation', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  const session = await page.store.session('task', { project: page.project, agent: 'helper' })
  await session.save({ state: { messages: [message('user', 'Fix it')] } })
  const second = await session.append('messages', [
    message('assistant', `The key is ${KEY}`),
    message('user', 'long '.repeat(20_000)),
  ])
  const shown = await page.call('session', { session: 'task' })
  expect(shown).toMatchObject({
    session: { id: 'task', agent: 'helper', project: page.s.project },
    total: 3,
    problem: null,
  })
  expect(shown.checkpoints.map(({ items }) => items)).toEqual([1, 3])
  const all = await page.call('items', { session: 'task', from: 0, limit: 50 })
  expect([all.total, all.items.map(({ index }) => index)]).toEqual([3, [0, 1, 2]])
  const first = await page.call('items', {
    session: 'task',
    ref: shown.checkpoints[0]?.id ?? '',
    from: 0,
    limit: 50,
  })
  expect(first.total).toBe(1)
  const point = { session: 'task', ref: second.id }
  const { items } = await page.call('items', { ...point, from: 1, limit: 1 })
  expect(JSON.stringify(items)).not.toContain(KEY)
  const revealed = await page.call('items', { ...point, from: 1, limit: 1, reveal: true })
  expect(JSON.stringify(revealed)).toContain(KEY)
  const rest = await page.call('more', { ...point, index: 2, part: 0, offset: 16_384 })
  expect([rest.text.length, rest.restLength]).toEqual([65_536, 100_000 - 16_384 - 65_536])
})

test('a read-only page never shows secrets', async () => {
  await using page = await openPage({}, { isReadOnly: true })
  const session = await page.store.session('task', { project: page.project })
  await session.save({ state: { messages: [message('assistant', `The key is ${KEY}`)] } })
  const point = { session: 'task', reveal: true } as const
  const shown = [
    await page.call('items', { ...point, from: 0, limit: 1 }),
    await page.call('more', { ...point, index: 0, part: 0, offset: 0 }),
  ]
  expect(JSON.stringify(shown)).not.toContain(KEY)
})

test('a session without a conversation, an unknown one, and one of a coding agent by an SDK program', async () => {
  await using page = await openPage()
  const empty = await page.store.session('empty', { project: page.project })
  await empty.save({ state: { counter: 1 } })
  expect(await page.call('session', { session: 'empty' })).toMatchObject({
    total: 0,
    problem: null,
    checkpoints: [{ items: null }],
  })
  expect(await page.call('items', { session: 'empty', from: 0, limit: 5 })).toEqual({
    items: [],
    total: 0,
  })
  expect(await page.call('transcriptBytes', { session: 'empty' })).toEqual({ bytes: null })
  expect(await page.refusal('session', { session: 'none' })).toBe('404 SESSION_UNKNOWN')
  expect(await page.refusal('items', { session: 'none', from: 0, limit: 5 })).toBe(
    '404 SESSION_UNKNOWN',
  )
  const named = await page.store.session('named', { project: page.project, agent: 'claude' })
  await named.save({ state: { messages: [message('user', 'Hello')] } })
  expect(await page.call('items', { session: 'named', from: 0, limit: 5 })).toMatchObject({
    total: 1,
    items: [{ parts: [{ kind: 'prompt', text: { text: 'Hello' } }] }],
  })
})

test('a lost state at the end does not hide the conversation before it', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  page.s.allowDamage()
  const chat = await page.store.session<{ messages: unknown[] }>('chat', { project: page.project })
  const [first, last] = [
    await chat.append('messages', [message('user', 'Hello')]),
    await chat.append('messages', [message('assistant', 'Hi')]),
  ]
  const ledger = new DatabaseSync(join(page.s.home, 'ledger.db'))
  const expectBeginning = async () => {
    expect(await page.call('session', { session: 'chat' })).toMatchObject({
      total: 1,
      problem: null,
      checkpoints: [
        { id: first.id, items: 1 },
        { id: last.id, items: null },
      ],
    })
    const { items } = await page.call('items', { session: 'chat', from: 0, limit: 5 })
    expect(items).toMatchObject([{ parts: [{ text: { text: 'Hello' } }] }])
  }
  ledger.exec('PRAGMA foreign_keys = OFF; DELETE FROM states WHERE id = 2')
  await expectBeginning()
  // As after a repair.
  const mark = { paths: [], fileCount: 0, isUnknown: false, state: 'lost', isStateLost: true }
  ledger
    .prepare('UPDATE checkpoints SET state = NULL, damage = ? WHERE state = 2')
    .run(JSON.stringify(mark))
  await expectBeginning()
  ledger.exec('DELETE FROM states')
  expect(await page.call('session', { session: 'chat' })).toMatchObject({
    total: 0,
    problem: 'The store has lost the conversation.',
  })
  ledger.close()
})

test('an encrypted conversation without its key is a sentence', async () => {
  let id = ''
  await using page = await openPage(
    {},
    {
      async prepare(s) {
        const store = await s.open({ encryption: { key: 'ab'.repeat(32) } })
        const project = await store.project(s.project)
        const session = await store.session('secret', { project, agent: 'claude' })
        id = (await session.save({ state: { transcript: ['{}'] } })).id
        await store.close()
      },
    },
  )
  const shown = await page.call('session', { session: 'secret' })
  expect(shown).toMatchObject({
    total: 0,
    problem: expect.stringMatching(/encrypted.*\.$/),
    checkpoints: [{ id, items: null }],
  })
  expect(await page.refusal('items', { session: 'secret', from: 0, limit: 5 })).toBe(
    '409 KEY_MISSING',
  )
})

test('a fork begins a new session, with a free name unless one is given', async () => {
  await using page = await openPage({ 'a.txt': 'one\n' })
  const session = await page.store.session('task', { project: page.project })
  const { id: ref } = await session.save({ files: true, state: { messages: [] } })
  await session.close()
  const at = { project: page.s.project, ref }
  expect(await page.call('fork', at)).toEqual({
    session: 'task-fork-1',
    command: 'savestate resume -- task-fork-1',
  })
  expect(await page.call('fork', at)).toMatchObject({ session: 'task-fork-2' })
  expect(await page.call('fork', { ...at, session: 'plan b' })).toEqual({
    session: 'plan b',
    command: "savestate resume -- 'plan b'",
  })
  const { sessions } = await page.call('sessions', { project: page.s.project })
  expect(sessions.map(({ id }) => id).sort()).toEqual([
    'plan b',
    'task',
    'task-fork-1',
    'task-fork-2',
  ])
})
