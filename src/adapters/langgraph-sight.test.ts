import { AIMessage } from '@langchain/core/messages'
import { expect, test } from 'vitest'
import { type Sight, SightReader, Sights } from './langgraph-sight.js'

function isAsSeen(value: unknown, { slots, shape }: Sight): boolean {
  const reader = new SightReader(slots)
  const isSame = reader.isAsSeen(value, shape)
  expect(!isSame || reader.at === slots.length).toBe(true)
  return isSame
}

/** Whether a change is seen; undefined if the value is not looked at at all. */
function seesChange<Value>(value: Value, change: (value: Value) => void): boolean | undefined {
  const sight = new Sights().of(value)
  if (sight === undefined) return undefined
  expect(isAsSeen(value, sight)).toBe(true)
  change(value)
  return !isAsSeen(value, sight)
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

test('every change of what is enumerable is seen, however deep', () => {
  const shared = { n: 1 }
  const cycle: Record<string, unknown> = { a: [1] }
  cycle['self'] = cycle
  expect([
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
  ]).toEqual(Array.from({ length: 13 }, () => true))
})

test('what changes nothing that is serialized is no change', () => {
  expect([
    seesChange({ a: 1 }, (it) => void (it.a = 1)),
    seesChange([], () => undefined),
    seesChange('text', () => undefined),
    seesChange(undefined, () => undefined),
    seesChange({ a: 1 }, (it) => void Object.defineProperty(it, 'hidden', { value: 1 })),
  ]).toEqual([false, false, false, false, false])
})

test('a value with more to it than its properties is not looked at', () => {
  const odd: unknown[] = [
    new Map(),
    new Set(),
    new Date(),
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
  const sights = new Sights()
  expect(odd.map((value) => sights.of(value))).toEqual(odd.map(() => undefined))
  expect(odd.map((value) => sights.of([{ value }]))).toEqual(odd.map(() => undefined))
})

test('the forms of more values than can be shared are still compared rightly', () => {
  const sights = new Sights()
  const values = Array.from({ length: 3000 }, (_, n) => ({ [`key${n}`]: n }))
  const seen = values.map((value) => sights.of(value) ?? { slots: [], shape: [] })
  expect(values.every((value, n) => isAsSeen(value, seen[n] ?? { slots: [], shape: [] }))).toBe(
    true,
  )
  for (const [n, value] of values.entries()) value[`key${n}`] = -1
  expect(values.some((value, n) => isAsSeen(value, seen[n] ?? { slots: [], shape: [] }))).toBe(
    false,
  )
})
