// Reading back what was put: LangGraph's rules, and cases that its suite does not cover.
import { MemorySaver } from '@langchain/langgraph-checkpoint'
import { expect, test } from 'vitest'
import {
  at,
  toCheckpoint,
  idIn,
  listOf,
  decodeMetadata,
  put,
  putChain,
  scratchSaver,
  valuesAt,
} from './saver.js'

test('two forks of one checkpoint keep their own values under the same versions', async () => {
  await using s = await scratchSaver()
  const root = await put(s.saver, at('t'), { values: { x: ['root'] } })
  const left = await put(s.saver, root, { values: { x: ['root', 'left'] } })
  const right = await put(s.saver, root, { values: { x: ['root', 'right'] } })
  const leftmost = await put(s.saver, left, { values: { x: ['root', 'left', 'leftmost'] } })
  expect([
    await valuesAt(s.saver, root),
    await valuesAt(s.saver, left),
    await valuesAt(s.saver, right),
    await valuesAt(s.saver, leftmost),
  ]).toEqual([
    { x: ['root'] },
    { x: ['root', 'left'] },
    { x: ['root', 'right'] },
    { x: ['root', 'left', 'leftmost'] },
  ])
})

test('bytes are stored as they were at the put, even if they change afterwards', async () => {
  await using s = await scratchSaver()
  const bytes = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const value = { raw: bytes, list: [bytes, 'text'], inside: { of: bytes }, none: new Uint8Array() }
  const putting = put(s.saver, at('t'), { values: value })
  bytes.fill(7)
  const config = await putting
  await s.saver.putWrites(config, [['raw', new Uint8Array([0, 255, 128])]], 'task')
  const whole = Uint8Array.from({ length: 256 }, (_, byte) => byte)
  const tuple = await (await s.reopen()).getTuple(config)
  expect(tuple?.checkpoint.channel_values).toEqual({
    raw: whole,
    list: [whole, 'text'],
    inside: { of: whole },
    none: new Uint8Array(),
  })
  expect(tuple?.pendingWrites).toEqual([['task', 'raw', new Uint8Array([0, 255, 128])]])
})

test('every kind of value reads back as from LangGraph’s own saver', async () => {
  await using s = await scratchSaver()
  const memory = new MemorySaver()
  const values = {
    nothing: null,
    missing: undefined,
    text: 'a\0b\u2028\ud800 "quoted"',
    holes: [1, undefined, null, [undefined]],
    map: new Map<unknown, unknown>([[{ key: 1 }, new Set([1, 2])]]),
    pattern: /a+/gi,
    date: new Date(0),
    error: new TypeError('no'),
    empty: [],
    nested: [[], [[1]], {}],
    numbers: [0, -0, 1e300, Number.NaN],
    strings: ['a', 'b', 'a'],
  }
  const made = toCheckpoint(values)
  const metadata = decodeMetadata()
  const config = await s.saver.put(at('t'), made, metadata, made.channel_versions)
  await memory.put(at('t'), made, metadata)
  const read = await (await s.reopen()).getTuple(config)
  expect(read).toEqual(await memory.getTuple(config))
  expect(Object.keys(read?.checkpoint.channel_values ?? {})).toEqual(Object.keys(values))
})

test('a change in place between two puts is detected', async () => {
  await using s = await scratchSaver()
  const message = {
    role: 'user',
    content: [{ type: 'text', text: 'one' }],
    extra: new Map([['a', 1]]),
  }
  const board = { cells: [[1, 2]], at: { x: 0 } }
  const list = [message, 'second']
  const configs = [await put(s.saver, at('t'), { values: { list, board } })]
  const change = async (work: () => void) => {
    work()
    configs.push(await put(s.saver, configs.at(-1) ?? at('t'), { values: { list, board } }))
  }
  await change(() => void (message.content[0] = { type: 'text', text: 'two' }))
  await change(() => void Object.assign(message.content[0] ?? {}, { text: 'three' }))
  await change(() => void message.extra.set('a', 2))
  await change(() => void Object.assign(message, { added: true }))
  await change(() => void Reflect.deleteProperty(message, 'role'))
  await change(() => void (board.at.x = 5))
  await change(() => void board.cells[0]?.push(3))
  await change(() => void list.unshift('zeroth'))
  await change(() => void list.splice(0, 2))
  const seen = await Promise.all(configs.map((config) => valuesAt(s.saver, config)))
  const text = (value: string) => [{ type: 'text', text: value }]
  const extra = (value: number) => new Map([['a', value]])
  const first = { cells: [[1, 2]], at: { x: 0 } }
  const last = { cells: [[1, 2, 3]], at: { x: 5 } }
  const bare = { content: text('three'), extra: extra(2), added: true }
  expect(seen).toEqual([
    { list: [{ role: 'user', content: text('one'), extra: extra(1) }, 'second'], board: first },
    { list: [{ role: 'user', content: text('two'), extra: extra(1) }, 'second'], board: first },
    { list: [{ role: 'user', content: text('three'), extra: extra(1) }, 'second'], board: first },
    { list: [{ role: 'user', content: text('three'), extra: extra(2) }, 'second'], board: first },
    { list: [{ role: 'user', ...bare }, 'second'], board: first },
    { list: [bare, 'second'], board: first },
    { list: [bare, 'second'], board: { cells: [[1, 2]], at: { x: 5 } } },
    { list: [bare, 'second'], board: last },
    { list: ['zeroth', bare, 'second'], board: last },
    { list: ['second'], board: last },
  ])
})

test('a change in place of a value that was read is detected', async () => {
  await using s = await scratchSaver()
  const config = await put(s.saver, at('t'), { values: { list: [{ n: { m: 1 } }, { n: 2 }] } })
  const read = await s.saver.getTuple(config)
  const list = read?.checkpoint.channel_values['list']
  if (!Array.isArray(list)) throw new Error('There is no list')
  Object.assign(list[0].n, { m: 'changed' })
  const next = await put(s.saver, config, { values: { list: [...list, 'new'] } })
  expect(await valuesAt(s.saver, next)).toEqual({
    list: [{ n: { m: 'changed' } }, { n: 2 }, 'new'],
  })
  expect(await valuesAt(s.saver, config)).toEqual({ list: [{ n: { m: 1 } }, { n: 2 }] })
})

test('removed, new and changed channels read back as such', async () => {
  await using s = await scratchSaver()
  const first = toCheckpoint({ a: 'v1', b: 'v2' })
  const one = await s.saver.put(at('t'), first, decodeMetadata(), { a: 1, b: 1 })
  const second = toCheckpoint({ a: 'v1+', b: 'v2' }, { channel_versions: { a: 2, b: 1 } })
  const two = await s.saver.put(one, second, decodeMetadata(), { a: 2 })
  const third = toCheckpoint({ a: 'v1+', c: 'new' }, { channel_versions: { a: 2, b: 1, c: 1 } })
  const three = await s.saver.put(two, third, decodeMetadata(), { c: 1 })
  expect(await valuesAt(s.saver, one)).toEqual({ a: 'v1', b: 'v2' })
  expect(await valuesAt(s.saver, two)).toEqual({ a: 'v1+', b: 'v2' })
  const values = await valuesAt(s.saver, three)
  expect(values).toEqual({ a: 'v1+', c: 'new' })
  expect(Object.hasOwn(values ?? {}, 'b')).toBe(false)
})

test('versions, versions seen and metadata come back', async () => {
  await using s = await scratchSaver()
  const made = toCheckpoint(
    { a: 1 },
    { versions_seen: { node1: { a: 1, b: 2 }, node2: { a: 3 } }, channel_versions: { a: 1, z: 7 } },
  )
  const metadata = decodeMetadata({
    source: 'input',
    step: -1,
    custom: { key: ['value'] },
    run_id: 'r',
  })
  const config = await s.saver.put(at('t'), made, metadata, { a: 1 })
  expect(await s.saver.getTuple(config)).toEqual({
    config: at('t', { id: made.id }),
    checkpoint: made,
    metadata,
    pendingWrites: [],
  })
})

test('a put with an existing id replaces the checkpoint', async () => {
  await using s = await scratchSaver()
  const made = toCheckpoint({ a: 1 })
  const config = await s.saver.put(at('t'), made, decodeMetadata(), { a: 1 })
  await s.saver.put(at('t'), { ...made, channel_values: { a: 2 } }, decodeMetadata({ step: 9 }), {
    a: 1,
  })
  const all = await listOf(s.saver, at('t'))
  expect(
    all.map(({ checkpoint, metadata }) => [checkpoint.channel_values, metadata?.step]),
  ).toEqual([[{ a: 2 }, 9]])
  expect(await s.saver.getTuple(config)).toEqual(all[0])
})

test('puts and writes that are not awaited are stored in the order of their calls', async () => {
  await using s = await scratchSaver()
  const [first, second] = [toCheckpoint({ a: 1 }), toCheckpoint({ a: 2 })]
  const parent = at('t', { id: first.id })
  // LangGraph sends the writes of the second step while the put of the first is running.
  await Promise.all([
    s.saver.put(at('t'), first, decodeMetadata(), { a: 1 }),
    s.saver.putWrites(at('t', { id: second.id }), [['a', 3]], 'task'),
    s.saver.putWrites(parent, [['a', 2]], 'task'),
    s.saver.put(parent, second, decodeMetadata({ step: 1 }), { a: 1 }),
    s.saver.putWrites(parent, [['a', 'too late']], 'task'),
  ])
  const all = await listOf(s.saver, at('t'))
  expect(all.map((tuple) => [idIn(tuple.config), tuple.pendingWrites])).toEqual([
    [second.id, [['task', 'a', 3]]],
    [first.id, [['task', 'a', 2]]],
  ])
})

test('a list that drops its oldest items and moves others at every step is stored correctly', async () => {
  await using s = await scratchSaver()
  let config = at('t')
  let list: unknown[] = []
  for (let step = 0; step < 30; step += 1) {
    list = [...list, { n: step }, `text ${step}`].slice(-9)
    if (step % 5 === 4) list = [list[4], ...list.slice(0, 4), ...list.slice(5)]
    config = await put(s.saver, config, { values: { list } })
    expect(await valuesAt(s.saver, config)).toEqual({ list })
  }
  expect(await valuesAt(await s.reopen(), config)).toEqual({ list })
  await putChain(s.saver, config, [{ values: { list: [] } }, { values: { list: 'no list' } }])
  expect(await valuesAt(s.saver, at('t'))).toEqual({ list: 'no list' })
})

test('hundreds of channels are stored, and each can be read', async () => {
  await using s = await scratchSaver()
  const names = Array.from({ length: 400 }, (_, number) => `channel ${number}`)
  const values = Object.fromEntries(names.map((name, number) => [name, [name, { number }]]))
  const first = await put(s.saver, at('t'), { values })
  const next = await put(s.saver, first, { values: { ...values, 'channel 7': 'changed' } })
  const last = await put(s.saver, next, { values: {} })
  expect(await valuesAt(s.saver, first)).toEqual(values)
  expect(await valuesAt(await s.reopen(), next)).toEqual({ ...values, 'channel 7': 'changed' })
  const asked = { config: last, channels: ['channel 7', 'channel 399', 'missing'] }
  expect(await s.saver.getDeltaChannelHistory(asked)).toEqual({
    'channel 7': { writes: [], seed: 'changed' },
    'channel 399': { writes: [], seed: ['channel 399', { number: 399 }] },
    missing: { writes: [] },
  })
})
