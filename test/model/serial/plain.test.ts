import { expect, test } from 'vitest'
import { isPlainElement } from '../../../src/model/serial/plain.js'

test('JSON data is plain', () => {
  const values = [
    null,
    true,
    'text',
    1.5,
    0,
    [],
    {},
    { role: 'user', content: [{ type: 'text', text: 'hello' }] },
    JSON.parse('{"__proto__":1,"toJSON":2,"constructor":{"prototype":3}}'),
    Array.from({ length: 1000 }, (_, id) => ({ id })),
  ]
  expect(values.filter((value) => !isPlainElement(value))).toEqual([])
})

test('values that JSON would lose or change are not plain', () => {
  const values = [
    undefined,
    Number.NaN,
    -0,
    1n,
    Symbol('s'),
    () => 1,
    [undefined],
    Object.assign([], { length: 1 }),
    Object.assign([1], { extra: 1 }),
    { [Symbol('s')]: 1 },
    { toJSON: () => 1 },
    { $: 1 },
    new Date(0),
    Object.create(null),
    new (class Tool {})(),
    new (class List extends Array {})(),
    Object('text'),
  ]
  for (const value of values)
    expect([isPlainElement(value), isPlainElement([[value]])]).toEqual([false, false])
})

test('an object that occurs twice is not plain, however many objects are in between', () => {
  for (const between of [0, 10, 31, 32, 33, 500]) {
    const many: unknown[] = Array.from({ length: between }, (_, id) => ({ id }))
    const shared = {}
    expect(isPlainElement([shared, many])).toBe(true)
    expect(isPlainElement([shared, many, shared])).toBe(false)
    expect(isPlainElement([many, shared, [shared]])).toBe(false)
  }
  const cycle: unknown[] = []
  cycle.push(cycle)
  expect(isPlainElement(cycle)).toBe(false)
})
