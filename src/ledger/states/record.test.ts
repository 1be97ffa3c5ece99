import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeValue } from '../../model/index.js'
import { type FlatRecord, isAsRecorded, isLikeRecorded, recordOf } from './record.js'
import { strictCopy } from './strict-copy.js'

function recorded(value: object, elsewhere: readonly object[] = []): FlatRecord | undefined {
  const isElsewhere = (object: object) => elsewhere.includes(object)
  return recordOf(value, { isElsewhere, classes: undefined, keyLists: new Map() })?.record
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

test('an element that was not touched is as recorded', () => {
  const value = sample()
  expect(isAsRecorded(recorded(value) ?? [])).toBe(true)
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

test.each(Object.entries(CHANGES))('a change in place is seen: %s', (_, change) => {
  const value = sample()
  const record = recorded(value) ?? []
  change(value)
  expect(isAsRecorded(record)).toBe(false)
})

test('what is stored elsewhere, or a second time, counts by identity only', () => {
  const [elsewhere, twice] = [{ n: 1 }, { n: 2 }]
  const value: Record<string, unknown> = { elsewhere, twice, again: twice }
  value['self'] = value
  const record = recorded(value, [elsewhere]) ?? []
  elsewhere.n = 5
  expect(isAsRecorded(record)).toBe(true)
  twice.n = 5
  expect(isAsRecorded(record)).toBe(false)
  twice.n = 2
  value['again'] = { n: 2 }
  expect(isAsRecorded(record)).toBe(false)
})

test('what cannot be compared without being written out has no record', () => {
  const deep = { inside: {} }
  for (let n = 0, at: Record<string, unknown> = deep; n < 200; n += 1)
    at = (at['inside'] = {}) as Record<string, unknown>
  const values = [
    new Map(),
    { set: new Set() },
    { bare: Object.create(null) },
    [new (class Sub extends Array {})()],
    Object.assign([1], { extra: 1 }),
    Object.assign([1], { length: 2 }),
    { [Symbol('key')]: 1 },
    new Proxy({}, {}),
    deep,
  ]
  expect(values.map((value) => recorded(value))).toEqual(values.map(() => undefined))
})

test('other objects are alike exactly if JSON writes them the same', () => {
  // A key "$" needs a tag, and is left to others.
  const json = fc
    .jsonValue({ maxDepth: 4 })
    .filter((value) => typeof value === 'object' && value !== null && encodeValue(value).plain)
    .map((value): object => Object(value))
  const pair = fc.oneof(
    fc.tuple(json, json),
    json.map((value): [object, object] => [value, strictCopy(value)]),
  )
  fc.assert(
    fc.property(pair, ([one, other]) => {
      const isSame = JSON.stringify(one) === JSON.stringify(other)
      return isLikeRecorded(other, recorded(one) ?? []) === isSame
    }),
    { numRuns: 1000, seed: 1 },
  )
  const empty = recorded({ list: [] }) ?? []
  expect(
    [{ list: [] }, { list: {} }, { list: [], more: 1 }, []].map((it) => isLikeRecorded(it, empty)),
  ).toEqual([true, false, false, false])
})
