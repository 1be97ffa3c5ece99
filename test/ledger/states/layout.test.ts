import { expect, test } from 'vitest'
import { type Layout, layOut } from '../../../src/ledger/states/layout.js'

/** Short: the kind, and for an object those of its keys. */
type Short = string | { readonly [key: string]: Short }
function short(layout: Layout): Short {
  if (layout.kind !== 'object') return layout.kind
  return Object.fromEntries(layout.entries.map(([key, inner]) => [key, short(inner)]))
}

const laidOut = (state: unknown): Short => short(layOut(state))

const long = Array.from({ length: 16 }, (_, n) => n)
const keys = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`key ${n}`, n]))

test('a state is divided only where lists grow', () => {
  const state = {
    step: 3,
    text: 'short',
    essay: 'long '.repeat(20),
    empty: [],
    list: [1, [2]],
    small: { a: { b: [1, 2] } },
    large: keys(33),
    nested: { deep: { list: long, n: 1 }, other: { few: [1] } },
    holdsLarge: { facts: keys(40) },
  }
  expect(laidOut(state)).toEqual({
    step: 'primitive',
    text: 'primitive',
    essay: 'value',
    empty: 'list',
    list: 'list',
    small: 'value',
    large: 'entries',
    nested: { deep: { list: 'list', n: 'primitive' }, other: 'value' },
    holdsLarge: { facts: 'entries' },
  })
})

test('a value that is not a plain object or array is one element', () => {
  function args(): unknown {
    return arguments
  }
  const state = {
    bare: Object.assign(Object.create(null), { long }),
    map: new Map([['long', long]]),
    date: new Date(0),
    holes: Object.assign([1], { length: 20 }),
    extra: Object.assign([...long], { more: 1 }),
    sub: new (class Sub extends Array {})(),
    symbol: { long, [Symbol('key')]: 1 },
    proxy: new Proxy({ long }, {}),
    proxied: new Proxy([1], {}),
    args: args(),
    undefined,
    nan: Number.NaN,
    minusZero: -0,
    big: 1n,
  }
  const whole = Object.fromEntries(Object.keys(state).map((key) => [key, 'value']))
  expect(laidOut(state)).toEqual(whole)
})

test('a state need not be an object', () => {
  expect([5, 'text', null, undefined, [1], new Map(), keys(257)].map(laidOut)).toEqual([
    'primitive',
    'primitive',
    'primitive',
    'value',
    'list',
    'value',
    'entries',
  ])
})

test('a list below four keys is divided, and one below five keys is not', () => {
  expect(laidOut({ a: { b: { c: { long } } } })).toEqual({ a: { b: { c: { long: 'list' } } } })
  expect(laidOut({ a: { b: { c: { d: { long } } } } })).toEqual({ a: 'value' })
})

test('an object that contains itself is visited once per level', () => {
  const inner: Record<string, unknown> = { n: 1 }
  inner['self'] = inner
  expect(laidOut({ inner })).toEqual({ inner: 'value' })
})
