// The saver serializes a value again if it changed, or if its changes cannot be detected.
import { AIMessage } from '@langchain/core/messages'
import { MemorySaver } from '@langchain/langgraph-checkpoint'
import { expect, test } from 'vitest'
import { Channels } from '../../src/langgraph/channels.js'

const { serde } = new MemorySaver()

/** Puts values one after the other, and counts how many are serialized. */
function putting(): (value: unknown) => Promise<number> {
  let count = 0
  const counting = {
    dumpsTyped: (data: unknown) => {
      count += 1
      return serde.dumpsTyped(data)
    },
    loadsTyped: serde.loadsTyped.bind(serde),
  }
  const channels = new Channels(counting)
  const place = { thread: 't', ns: '', id: '1' }
  return async (value) => {
    const before = count
    await channels.dump(counting, { place, values: new Map([['c', value]]) })
    return count - before
  }
}

/** Whether a change is detected; undefined if the value is serialized each time. */
async function seesChange<Value>(
  value: Value,
  change: (value: Value) => void,
): Promise<boolean | undefined> {
  const put = putting()
  await put([value])
  if ((await put([value])) > 0) return undefined
  change(value)
  return (await put([value])) > 0
}

class Point {
  x = 1
  inner = { y: 2 }
}

class Secret {
  #hidden = 1
  toJSON(): number {
    return this.#hidden
  }
}

test('every change of an enumerable property is detected, at any depth', async () => {
  const shared = { n: 1 }
  const cycle: Record<string, unknown> = { a: [1] }
  cycle['self'] = cycle
  const seen = [
    seesChange({ a: 1 }, (it) => void (it.a = 2)),
    seesChange({ a: 1 }, (it) => void Object.assign(it, { b: undefined })),
    seesChange({ a: 1 }, (it) => void Reflect.deleteProperty(it, 'a')),
    seesChange<object>({ a: 1 }, (it) => {
      Reflect.deleteProperty(it, 'a')
      Object.assign(it, { b: 1 })
    }),
    seesChange([1, [2, [3]]], (it) => void Object(it[1]).push(4)),
    seesChange([1, 2, 3], (it) => void (it.length = 2)),
    seesChange([{ a: {} }], (it) => void (it[0] = { a: {} })),
    seesChange(new Point(), (it) => void (it.inner.y = 3)),
    seesChange([shared, shared], () => void (shared.n = 2)),
    seesChange(cycle, (it) => void Object(it['a']).push(2)),
    seesChange(new AIMessage('text'), (it) => void (it.content = 'other')),
    seesChange(new AIMessage('text'), (it) => void (it.additional_kwargs['a'] = 1)),
    seesChange(new AIMessage('text'), (it) => void it.tool_calls?.push({ name: 'a', args: {} })),
  ]
  expect(await Promise.all(seen)).toEqual(seen.map(() => true))
})

test('a change that does not affect the JSON is ignored', async () => {
  const seen = [
    seesChange({ a: 1 }, (it) => void (it.a = 1)),
    seesChange([], () => undefined),
    seesChange('text', () => undefined),
    seesChange(undefined, () => undefined),
    seesChange({ a: 1 }, (it) => void Object.defineProperty(it, 'hidden', { value: 1 })),
    seesChange({ at: new Date(5) }, (it) => void it.at.setTime(5)),
  ]
  expect(await Promise.all(seen)).toEqual(seen.map(() => false))
})

test('a value whose JSON depends on more than its properties is serialized each time', async () => {
  const odd: unknown[] = [
    new Map(),
    new Set(),
    /a/,
    new Error('e'),
    new Uint8Array(1),
    Buffer.from('a'),
    Object(1),
    new Proxy({}, {}),
    new URL('https://example.org'),
    new Secret(),
    { toJSON: () => 1 },
  ]
  for (const value of odd) {
    expect(await seesChange(value, () => undefined)).toBe(undefined)
    expect(await seesChange([{ value }], () => undefined)).toBe(undefined)
  }
})

test('a value of many different forms is still compared', async () => {
  const put = putting()
  const values = Array.from({ length: 3000 }, (_, n) => ({ [`key${n}`]: n }))
  expect([await put(values), await put(values)]).toEqual([3000, 0])
  for (const [n, value] of values.entries()) value[`key${n}`] = -1
  expect(await put(values)).toBe(3000)
})
