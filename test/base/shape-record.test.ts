import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  isSameShape,
  isUnchanged,
  recordShape,
  type ShapeRecord,
} from '../../src/base/shape-record.js'

/** Plain objects, arrays and Dates. */
function isOrdinary(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  return prototype === Object.prototype || Array.isArray(object) || object instanceof Date
}

function recorded(value: object): ShapeRecord | undefined {
  return recordShape(value, isOrdinary)
}

const sample = () => ({
  role: 'user',
  content: [{ type: 'text', text: 'hello' }, null, 3] as unknown[],
  meta: { at: new Date(5), zero: 0, nothing: undefined, nan: Number.NaN, big: 2n } as Record<
    string,
    unknown
  >,
  empty: {} as Record<string, unknown>,
  none: [] as unknown[],
  unset: [undefined] as unknown[],
})

test('an untouched element is unchanged', () => {
  const value = sample()
  expect(isUnchanged(recorded(value) ?? [])).toBe(true)
})

const CHANGES: Readonly<Record<string, (value: ReturnType<typeof sample>) => unknown>> = {
  'a string': (value) => (value.role = 'tool'),
  'an item deep inside': (value) => Object.assign(Object(value.content[0]), { text: 'hullo' }),
  'zero to minus zero': (value) => (value.meta['zero'] = -0),
  'undefined to null': (value) => (value.meta['nothing'] = null),
  'a bigint': (value) => (value.meta['big'] = 3n),
  'the time of a Date': (value) => (value.meta['at'] as Date).setTime(6),
  'another Date of the same time': (value) => (value.meta['at'] = new Date(5)),
  'a key more': (value) => (value.empty['new'] = 1),
  'a key less': (value) => Reflect.deleteProperty(value.meta, 'big'),
  'the order of keys': (value) => {
    const { zero } = value.meta
    Reflect.deleteProperty(value.meta, 'zero')
    value.meta['zero'] = zero
  },
  'an item more': (value) => value.none.push(1),
  'an item less': (value) => value.content.pop(),
  'a hole': (value) => Reflect.deleteProperty(value.content, 2),
  'a hole for undefined': (value) => Reflect.deleteProperty(value.unset, 0),
  'the prototype of a Date': (value) => Object.setPrototypeOf(value.meta['at'], Object.prototype),
  'an object for a primitive': (value) => (value.content[2] = {}),
  'a primitive for an object': (value) => (value.content[0] = 1),
  'an equal object': (value) => (value.content[0] = { type: 'text', text: 'hello' }),
  'the prototype of an object': (value) => Object.setPrototypeOf(value.empty, null),
  'the prototype of an array': (value) => Object.setPrototypeOf(value.none, Object.prototype),
  'a key that is no longer shown': (value) =>
    Object.defineProperty(value, 'role', { enumerable: false }),
}

test.each(Object.entries(CHANGES))('a change in place is detected: %s', (_, change) => {
  const value = sample()
  const record = recorded(value) ?? []
  change(value)
  expect(isUnchanged(record)).toBe(false)
})

test('an object that occurs twice is recorded once, and compared by identity at each position', () => {
  const twice = { n: 2 }
  const value: Record<string, unknown> = { twice, again: twice }
  value['self'] = value
  const record = recorded(value) ?? []
  expect(isUnchanged(record)).toBe(true)
  twice.n = 5
  expect(isUnchanged(record)).toBe(false)
  twice.n = 2
  value['again'] = { n: 2 }
  expect(isUnchanged(record)).toBe(false)
})

test('an instance of a class is compared by its properties and its class', () => {
  class Message {
    text = 'a'
  }
  const message = new Message()
  const record = recordShape({ message }, () => true) ?? []
  expect(isUnchanged(record)).toBe(true)
  Object.setPrototypeOf(message, Object.prototype)
  expect(isUnchanged(record)).toBe(false)
  expect(isSameShape(record, recordShape({ message: { text: 'a' } }, () => true) ?? [])).toBe(false)
})

test('a value that must be serialized to be compared has no record', () => {
  const values = [
    new Map(),
    { set: new Set() },
    { bare: Object.create(null) },
    [new (class Sub extends Array {})()],
    Object.assign([1], { extra: 1 }),
    Object.assign([1], { length: 2 }),
    [Object.assign(new Date(5), { extra: 1 })],
    new Proxy({}, {}),
  ]
  expect(values.map((value) => recorded(value))).toEqual(values.map(() => undefined))
})

test('two JSON values have the same shape exactly if JSON writes them the same', () => {
  const json = fc
    .jsonValue({ maxDepth: 4 })
    .filter((value) => typeof value === 'object' && value !== null)
    .map((value): object => Object(value))
  const pair = fc.oneof(
    fc.tuple(json, json),
    json.map((value): [object, object] => [value, structuredClone(value)]),
  )
  const text = (value: object) =>
    JSON.stringify(value, (_, inner: unknown) => (Object.is(inner, -0) ? '-0' : inner))
  fc.assert(
    fc.property(pair, ([one, other]) => {
      return isSameShape(recorded(one) ?? [], recorded(other) ?? []) === (text(one) === text(other))
    }),
    { numRuns: 1000, seed: 1 },
  )
  const empty = recorded({ list: [] }) ?? []
  expect(
    [{ list: [] }, { list: {} }, { list: [], more: 1 }, []].map((it) =>
      isSameShape(recorded(it) ?? [], empty),
    ),
  ).toEqual([true, false, false, false])
})

test('values with different sharing have different shapes', () => {
  const [one, other] = [{ n: 1 }, { n: 1 }]
  const twice = recorded([one, one]) ?? []
  expect(isSameShape(twice, recorded([other, other]) ?? [])).toBe(true)
  expect(isSameShape(twice, recorded([one, other]) ?? [])).toBe(false)
  expect(isSameShape(recorded([one, other]) ?? [], twice)).toBe(false)
  const [a, b] = [{ n: 1 }, { n: 1 }]
  expect(isSameShape(recorded([a, b, a]) ?? [], recorded([a, b, b]) ?? [])).toBe(false)
})
