// Threads: any text as an id, deletion that stays, filters, and many of them.
import { expect, test } from 'vitest'
import {
  at,
  toCheckpoint,
  idIn,
  listIds,
  listOf,
  decodeMetadata,
  put,
  putChain,
  scratchSaver,
  steps,
  valuesAt,
  SavestateSaver,
} from './saver.js'

const ODD_NAMES = [
  '__proto__',
  'constructor',
  'toString',
  '',
  ' ',
  '"',
  '"quoted"',
  'a"b',
  "'; DROP TABLE threads; --",
  'a',
  '\u{1f600}',
  '%',
  '_',
  'ä',
  'a\u0308',
  'A',
  'x'.repeat(10_000),
  '1',
  '01',
]

test('any storable text can be a thread id, a namespace, a channel or a task, and no two are confused', async () => {
  await using s = await scratchSaver()
  for (const name of ODD_NAMES) {
    const config = await put(s.saver, at(name, { ns: name }), {
      values: Object.fromEntries([[name, [name]]]),
    })
    await s.saver.putWrites(config, [[name, name]], name)
  }
  const again = await s.reopen()
  for (const name of ODD_NAMES) {
    const tuple = await again.getTuple(at(name, { ns: name }))
    expect(tuple?.config.configurable).toMatchObject({ thread_id: name, checkpoint_ns: name })
    expect(Object.entries(tuple?.checkpoint.channel_values ?? {})).toEqual([[name, [name]]])
    expect(tuple?.pendingWrites).toEqual([[name, name, name]])
    expect(await listIds(again, at(name))).toHaveLength(name === '' ? 1 : 0)
    expect(await listIds(again, { configurable: { thread_id: name } })).toHaveLength(1)
  }
  expect(await listOf(again, {})).toHaveLength(ODD_NAMES.length)
  for (const name of ODD_NAMES) await again.deleteThread(name)
  expect(await listOf(again, {})).toEqual([])
})

test('a name that SQLite cannot store exactly is rejected', async () => {
  await using s = await scratchSaver()
  const config = await put(s.saver, at('t'), { values: { a: 1 } })
  for (const name of ['a\0b', '\ud800']) {
    await expect(put(s.saver, at(name))).rejects.toMatchObject({ code: 'BAD_INPUT' })
    await expect(put(s.saver, at('t', { ns: name }))).rejects.toMatchObject({ code: 'BAD_INPUT' })
    const writes = s.saver.putWrites(config, [[name, 1]], 'task')
    await expect(writes).rejects.toMatchObject({ code: 'BAD_INPUT' })
    const copy = s.saver.copyThread('t', name)
    await expect(copy).rejects.toMatchObject({ code: 'BAD_INPUT' })
  }
  expect(await listOf(s.saver, {})).toHaveLength(1)
})

test('a name that SQLite cannot store exactly does not delete another thread', async () => {
  await using s = await scratchSaver()
  await put(s.saver, at('\ufffd'), { values: { a: 1 } })
  await expect(s.saver.deleteThread('\ud800')).rejects.toMatchObject({ code: 'BAD_INPUT' })
  expect(await listOf(s.saver, {})).toHaveLength(1)
})

test('a number as a thread id becomes text, and any other type is rejected', async () => {
  await using s = await scratchSaver()
  const config = await put(s.saver, at(7), { values: { a: 1 } })
  expect(config).toEqual(at('7', { id: idIn(config) }))
  expect(await valuesAt(s.saver, at(7))).toEqual({ a: 1 })
  expect(await s.saver.getTuple({ configurable: {} })).toBeUndefined()
  await expect(put(s.saver, at({}))).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(put(s.saver, {})).rejects.toMatchObject({ code: 'BAD_INPUT' })
  await expect(s.saver.putWrites(at('t'), [], 'task')).rejects.toMatchObject({ code: 'BAD_INPUT' })
})

test('this and another process fail to continue a deleted thread', async () => {
  await using s = await scratchSaver()
  const [first, second] = await putChain(s.saver, at('t'), steps(2))
  if (first === undefined || second === undefined) throw new Error('Two were put')
  await put(s.saver, at('t', { ns: 'child' }), { values: { a: 1 } })
  await s.saver.deleteThread('t')
  const deleted = { code: 'SESSION_DELETED', message: 'The thread "t" was deleted' }
  for (const saver of [s.saver, await s.reopen()]) {
    await expect(put(saver, second)).rejects.toMatchObject(deleted)
    await expect(put(saver, first)).rejects.toMatchObject(deleted)
    await expect(put(saver, at('t', { ns: 'child' }))).rejects.toMatchObject(deleted)
    await expect(saver.putWrites(second, [['a', 1]], 'task')).rejects.toMatchObject(deleted)
    const later = at('t', { id: toCheckpoint({}).id })
    await expect(saver.putWrites(later, [['a', 1]], 'task')).rejects.toMatchObject(deleted)
  }
  expect(await listOf(s.saver, {})).toEqual([])
})

test('a run from scratch creates a deleted thread again, and the old run still cannot write', async () => {
  await using s = await scratchSaver()
  const old = await putChain(s.saver, at('t'), steps(3))
  await s.saver.putWrites(old[2] ?? {}, [['a', 'old']], 'task')
  await s.saver.deleteThread('t')
  const [anew, next] = await putChain(s.saver, at('t'), steps(2))
  await s.saver.putWrites(next ?? {}, [['a', 'new']], 'task')
  const early = toCheckpoint({})
  await s.saver.putWrites(at('t', { id: early.id }), [['a', 'before its put']], 'task')
  for (const config of old) {
    await expect(put(s.saver, config)).rejects.toMatchObject({ code: 'SESSION_DELETED' })
    await expect(s.saver.putWrites(config, [['a', 1]], 'task')).rejects.toMatchObject({
      code: 'SESSION_DELETED',
    })
    expect(await s.saver.getTuple(config)).toBeUndefined()
  }
  expect(await listIds(s.saver, at('t'))).toEqual([next, anew].map((config) => idIn(config ?? {})))
  expect((await s.saver.getTuple(at('t')))?.pendingWrites).toEqual([['task', 'a', 'new']])
  await s.saver.put(next ?? {}, early, decodeMetadata(), {})
  expect((await s.saver.getTuple(at('t')))?.pendingWrites).toEqual([
    ['task', 'a', 'before its put'],
  ])
})

test('ids that are reused after a deletion belong to the new run', async () => {
  await using s = await scratchSaver()
  const fixed = { checkpoint: { id: 'checkpoint-1' } }
  await put(s.saver, at('t'), fixed)
  await s.saver.deleteThread('t')
  const config = await put(s.saver, at('t'), fixed)
  await s.saver.putWrites(config, [['a', 1]], 'task')
  await put(s.saver, config, { checkpoint: { id: 'checkpoint-2' } })
  expect(await listIds(s.saver, at('t'))).toEqual(['checkpoint-2', 'checkpoint-1'])
})

test('a put that was called before a deletion does not survive it', async () => {
  await using s = await scratchSaver()
  const putting = put(s.saver, at('t'), { values: { a: 1 } })
  const deleting = s.saver.deleteThread('t')
  await Promise.all([putting, deleting])
  expect(await listOf(s.saver, at('t'))).toEqual([])
})

test('metadata filters compare each key, before the limit is counted', async () => {
  await using s = await scratchSaver()
  const puts = [
    { source: 'input', step: 1, score: 42 },
    { source: 'loop', step: 1 },
    { source: 'input', step: 2, score: 99, tag: undefined },
    { source: 'loop', step: 2, nested: { a: 1 } },
  ].map((metadata) => ({ metadata }))
  const ids = (await putChain(s.saver, at('t'), puts)).map(idIn)
  const found = async (filter: Record<string, unknown>, limit?: number) => {
    const options = limit === undefined ? { filter } : { filter, limit }
    return (await listIds(s.saver, at('t'), options)).map((id) => ids.indexOf(id))
  }
  expect({
    one: await found({ source: 'input' }),
    two: await found({ source: 'input', step: 2 }),
    custom: await found({ score: 42 }),
    limited: await found({ source: 'loop' }, 1),
    none: await found({ source: 'update' }),
    kinds: await found({ step: '1' }),
    nested: await found({ nested: { a: 1 } }),
    all: await found({}),
    zero: await found({}, 0),
  }).toEqual({
    one: [2, 0],
    two: [2],
    custom: [0],
    limited: [3],
    none: [],
    kinds: [],
    nested: [],
    all: [3, 2, 1, 0],
    zero: [],
  })
})

test('a reopened store returns equal tuples', async () => {
  await using s = await scratchSaver()
  for (const [thread, ns] of [
    ['a', ''],
    ['a', 'child:1'],
    ['b', ''],
  ] as const) {
    for (const config of await putChain(s.saver, at(thread, { ns }), steps(4)))
      await s.saver.putWrites(config, [['x', { thread, ns }]], 'task')
  }
  const before = await listOf(s.saver, {})
  const again = await s.reopen()
  expect(before).toHaveLength(12)
  expect(await listOf(again, {})).toEqual(before)
  for (const tuple of before) expect(await again.getTuple(tuple.config)).toEqual(tuple)
})

test('finding one of ten thousand threads takes as long as finding the only one', async () => {
  await using s = await scratchSaver()
  const count = 10_000
  for (let start = 0; start < count; start += 500) {
    const threads = Array.from({ length: 500 }, (_, index) => `thread ${start + index}`)
    await Promise.all(threads.map((thread) => putChain(s.saver, at(thread), steps(1))))
  }
  const startedAt = performance.now()
  for (let round = 0; round < 50; round += 1) {
    const thread = `thread ${round * 199}`
    expect(await valuesAt(s.saver, at(thread))).toEqual({ step: 0 })
    expect(await listOf(s.saver, at(thread))).toHaveLength(1)
  }
  // A hundred reads; each takes well under a millisecond.
  expect(performance.now() - startedAt).toBeLessThan(1000)
  expect(await listOf(s.saver, {}, { limit: 3 })).toHaveLength(3)
})

test('a saver that is constructed like others reports how to construct this one', () => {
  const make = (...given: unknown[]): unknown => Reflect.construct(SavestateSaver, given)
  for (const given of [[], [null], ['checkpoints.db'], [{ home: '/nowhere' }]]) {
    expect(() => make(...given)).toThrow(
      expect.objectContaining({ code: 'BAD_INPUT', hint: expect.stringContaining('open(') }),
    )
  }
})

test('an incomplete configuration is rejected', async () => {
  await using s = await scratchSaver()
  await putChain(s.saver, at('t'), steps(2))
  for (const limit of [1.5, Number.NaN]) {
    const asked = s.saver.list(at('t'), { limit }).next()
    await expect(asked).rejects.toMatchObject({ code: 'BAD_INPUT' })
  }
})
