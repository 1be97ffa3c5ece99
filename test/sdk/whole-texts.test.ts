// SQLite ends a text at NUL, and UTF-8 has no form for half a character: of two ids that differ only behind that, one
// would be taken for the other. They are refused wherever a text reaches the ledger.
import { expect, test } from 'vitest'
import { scratch, sdk } from '../support/scratch.js'

const PAIRS = [
  ['same\0one', 'same\0two'],
  ['same\ud800', 'same\ud801'],
] as const

test('a text that the ledger cannot tell from another is refused, and nothing is done', async () => {
  await using s = await scratch()
  const store = await s.open()
  const session = await store.session<{ n: number }>('agent')
  const first = await session.save({ state: { n: 0 }, name: 'same' })
  const victim = await store.session('same')
  const saved = await victim.save({ state: {} })
  await victim.close()
  const ran: string[] = []
  const run = () => void ran.push('ran')
  for (const text of PAIRS.flat()) {
    const calls: Readonly<Record<string, () => Promise<unknown>>> = {
      operationId: () => session.save({ state: { n: 1 }, operationId: text }),
      toolCall: () => session.save({ state: { n: 1 }, toolCall: text }),
      status: () => session.save({ status: { state: 'failed', reason: text } }),
      'append, operationId': () => session.append('n', [1], { operationId: text }),
      'tool id': () => session.tool({ id: text, name: 'mail' }, run),
      'tool name': () => session.tool({ id: 'a', name: text }, run),
      step: () => session.step(text, run),
      resolveToolCall: () => session.resolveToolCall(text, { as: 'skipped' }),
      fail: () => session.fail(text),
      halt: () => session.halt(text),
      import: () => session.import([{ id: text, timestamp: '2026-01-01T00:00:00Z' }]),
      show: () => session.show(text),
      stateAt: () => session.stateAt(text),
      rewind: () => session.rewind(text, { restore: 'state' }),
      list: () => session.list({ name: text }),
      latest: () => session.latest({ name: text }),
      deleteSession: () => store.deleteSession(text),
      'fork, of': () => store.fork('1', { session: 'fork', of: text }),
      'fork, agent': () => store.fork(saved.id, { session: 'fork', agent: text }),
      agent: () => store.session('other', { agent: text }),
      note: () => store.note(text),
      'changeNote, key': () => store.changeNote({ key: text, change: () => 'x' }),
      'changeNote, text': () => store.changeNote({ key: 'k', change: () => text }),
    }
    const codes: Record<string, unknown> = {}
    for (const [name, call] of Object.entries(calls)) {
      codes[name] = await call().then(
        () => 'taken',
        (error: unknown) => (error instanceof sdk.SavestateError ? error.code : String(error)),
      )
    }
    expect(codes).toEqual(Object.fromEntries(Object.keys(calls).map((name) => [name, 'BAD_INPUT'])))
  }
  expect(ran).toEqual([])
  expect((await session.list()).map(({ id }) => id)).toEqual([first.id])
  expect((await store.sessions()).map(({ id, status }) => [id, status])).toEqual([
    ['same', 'in_progress'],
    ['agent', 'in_progress'],
  ])
  expect(await store.note('k')).toBeUndefined()
})
