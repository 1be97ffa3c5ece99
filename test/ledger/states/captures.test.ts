import { expect, test } from 'vitest'
import { ClassRegistry } from '../../../src/model/index.js'
import { copyValue } from '../../../src/ledger/states/captures.js'
import { Box, difference } from '../../support/strict-copy.js'

const classes = new ClassRegistry()
classes.register('Box', {
  type: Box,
  toValue: ({ content }) => content,
  fromValue: (value) => new Box(value),
})

function nested(depth: number): unknown {
  let value: unknown = { n: 1 }
  for (let level = 0; level < depth; level += 1) value = [value]
  return value
}

test('a copy has the same content and sharing, and no object in common', () => {
  const shared = { n: -0, at: new Date(5) }
  const cyclic: Record<string, unknown> = { shared, list: [shared, undefined, Number.NaN, 2n] }
  cyclic['self'] = cyclic
  const values: unknown[] = [
    'text',
    null,
    [],
    cyclic,
    nested(101),
    { map: new Map([[shared, cyclic]]), shared },
    { box: new Box({ shared }), shared },
    Object.assign(['a'], { length: 3 }),
    JSON.parse('{"__proto__":{"a":1},"b":{"__proto__":2}}'),
    Object.assign(Object.create(null), { shared }),
    { extra: Object.assign([1], {}), bytes: new Uint8Array([1, 2]) },
  ]
  for (const value of values) {
    const copy = copyValue(value, { classes })
    expect(difference(value, copy)).toBe(undefined)
  }
  const copy = Object(copyValue(cyclic, { classes }))
  expect([copy.shared === shared, copy.list === cyclic['list']]).toEqual([false, false])
})

test('a registered class for Dates copies dates', () => {
  const dates = new ClassRegistry()
  dates.register('Date', {
    type: Date,
    toValue: () => 7,
    fromValue: (value) => new Date(Number(value)),
  })
  expect(copyValue({ at: new Date(5) }, { classes: dates })).toEqual({ at: new Date(7) })
})

test('an unstorable value is rejected with its path', () => {
  for (const value of [() => 1, Symbol('a'), new WeakMap(), Object.assign([1], { extra: 1 })])
    expect(() => copyValue({ list: [{ value }] }, { classes })).toThrow(
      'Cannot store list[0].value',
    )
})
