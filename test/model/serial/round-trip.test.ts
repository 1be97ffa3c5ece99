// Every stored value is restored exactly: kinds, order, property flags, holes, sharing, cycles.
// The comparison is strict and independent of the stored format.
import { types } from 'node:util'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { tries } from '../../support/test-budget.js'
import { SavestateError } from '../../../src/model/errors.js'
import { decodeValue } from '../../../src/model/serial/decode.js'
import { type EncodeOptions, encodeValue } from '../../../src/model/serial/encode.js'
import { ClassRegistry } from '../../../src/model/serial/registry.js'

class Box {
  content: unknown
  constructor(content: unknown) {
    this.content = content
  }
}

const classes = new ClassRegistry()
classes.register('Box', {
  type: Box,
  toValue: ({ content }) => ({ content }),
  fromValue: (value) => new Box(Object(value).content),
})

const scalar = fc.oneof(
  fc.constantFrom(null, true, false, undefined, Number.NaN, -0, 0, Infinity, -Infinity, 2n ** 70n),
  fc.constantFrom('', '$', '\0', '\ud800', '\udc00x', '__proto__', '\u2028', '{"$":"NaN"}'),
  fc.double(),
  fc.bigInt(),
  fc.string({ unit: 'binary' }),
)

const LEAVES: Readonly<Record<string, () => object>> = {
  date: () => new Date(1_700_000_000_123),
  invalidDate: () => new Date(Number.NaN),
  url: () => new URL('https://user:pass@example.org:81/a%20b?q=%C3%A9#hash'),
  regExp: () => Object.assign(/a+(?<n>\/)/giu, { lastIndex: 3 }),
  buffer: () => Buffer.from('bytes \xff', 'latin1'),
  arrayBuffer: () => new Uint8Array([1, 2, 255]).buffer,
  dataView: () => new DataView(new Uint8Array([9, 8, 7, 6]).buffer, 1, 2),
  float64: () => new Float64Array([Number.NaN, -0, Infinity, 0.1]),
  bigUint64: () => new BigUint64Array([2n ** 64n - 1n]),
  clamped: () => new Uint8ClampedArray([0, 255]),
  int16: () => new Int16Array(new Int16Array([1, -2, 3, -4]).buffer, 2, 2),
}
const CONTAINERS = ['object', 'bare', 'array', 'sparse', 'map', 'set', 'error'] as const
const KEYS = ['a', 'b', '$', '__proto__', 'constructor', 'toJSON', '7', '', 'é']

/** A slot holds a scalar, or the node with that number (modulo the number of nodes). */
const slot = fc.oneof(fc.record({ node: fc.nat(9) }), fc.record({ scalar }))
const node = fc.record({
  kind: fc.constantFrom(...CONTAINERS, ...CONTAINERS, ...Object.keys(LEAVES)),
  slots: fc.array(slot, { maxLength: 5 }),
  keys: fc.shuffledSubarray(KEYS, { minLength: 5 }),
})
const graph = fc.array(node, { minLength: 1, maxLength: 10 })
type Spec = {
  readonly kind: string
  readonly slots: readonly { readonly node?: number; readonly scalar?: unknown }[]
  readonly keys: readonly string[]
}

test('any graph of values is restored exactly, with its sharing and its cycles', () => {
  fc.assert(
    fc.property(graph, (specs) => {
      const [root] = build(specs)
      expect(difference(root, roundTrip(root))).toBe(undefined)
    }),
    { numRuns: tries(3000), seed: 1 },
  )
})

test('with a registered class it is refused exactly if a cycle goes through an instance', () => {
  // Few nodes and only links between them: otherwise nearly every cycle closes the simplest way.
  const links = fc.record({
    kind: fc.constantFrom('object', 'box'),
    slots: fc.array(fc.record({ node: fc.nat(5) }), { maxLength: 3 }),
    keys: fc.constant(KEYS),
  })
  fc.assert(
    fc.property(fc.array(links, { minLength: 2, maxLength: 6 }), (specs) => {
      const [root] = build(specs)
      expect(outcome(root)).toBe(hasCycleThroughBox(specs) ? 'STATE_UNSTORABLE' : undefined)
    }),
    { numRuns: tries(3000), seed: 2 },
  )
})

test('any value of fast-check is restored exactly', () => {
  const anything = fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSet: true,
    withNullPrototype: true,
    withTypedArray: true,
    withSparseArray: true,
    withObjectString: true,
  })
  fc.assert(
    fc.property(anything, (value) => {
      expect(difference(value, roundTrip(value))).toBe(undefined)
    }),
    { numRuns: tries(3000), seed: 4 },
  )
})

test('JSON data is stored as JSON.stringify writes it', () => {
  fc.assert(
    fc.property(fc.jsonValue(), (generated) => {
      const value: unknown = JSON.parse(JSON.stringify(generated))
      const text = JSON.stringify(value)
      fc.pre(!text.includes('"$":'))
      expect(encodeValue(value)).toEqual({ text, plain: true })
      expect(difference(value, decodeValue(text))).toBe(undefined)
    }),
    { numRuns: tries(2000), seed: 5 },
  )
})

test('encoding the decoded value gives the same text', () => {
  fc.assert(
    fc.property(graph, (specs) => {
      const { text } = encodeValue(build(specs)[0])
      expect(encodeValue(decodeValue(text)).text).toBe(text)
    }),
    { numRuns: 500, seed: 6 },
  )
})

function roundTrip(value: unknown, options: EncodeOptions = { classes }): unknown {
  const encoded = encodeValue(value, options)
  return decodeValue(encoded.text, { plain: encoded.plain, classes })
}

/** The code of the refusal, or the unexpected difference. */
function outcome(value: unknown): string | undefined {
  try {
    return difference(value, roundTrip(value))
  } catch (error) {
    if (error instanceof SavestateError) return error.code
    throw error
  }
}

function build(specs: readonly Spec[]): object[] {
  const nodes = specs.map(({ kind }) => emptyOf(kind))
  for (const [place, { slots, keys }] of specs.entries()) {
    const values = slots.map(({ node, scalar }) =>
      node === undefined ? scalar : nodes[node % nodes.length],
    )
    fillIn(nodes[place] ?? {}, values, keys)
  }
  return nodes
}

function emptyOf(kind: string): object {
  if (kind === 'object') return {}
  if (kind === 'bare') return Object.create(null)
  if (kind === 'array' || kind === 'sparse')
    return kind === 'array' ? [] : Object.assign([], { length: 3 })
  if (kind === 'map') return new Map()
  if (kind === 'set') return new Set()
  if (kind === 'error') return new RangeError('out')
  return kind === 'box' ? new Box(null) : (LEAVES[kind]?.() ?? {})
}

function fillIn(object: object, values: readonly unknown[], keys: readonly string[]): void {
  if (Array.isArray(object)) object.push(...values)
  else if (object instanceof Map) values.forEach((value, n) => object.set(value, values[n - 1]))
  else if (object instanceof Set) for (const value of values) object.add(value)
  else if (object instanceof Box) object.content = [...values]
  else if (object instanceof Error || builtFromKeys(object)) {
    for (const [n, value] of values.entries()) {
      const enumerable = !(object instanceof Error && n === 0)
      const key = enumerable ? (keys[n] ?? `key${n}`) : 'cause'
      Object.defineProperty(object, key, { value, enumerable, writable: true, configurable: true })
    }
  }
}

function builtFromKeys(object: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(object)
  return prototype === null || prototype === Object.prototype
}

function hasCycleThroughBox(specs: readonly Spec[]): boolean {
  const isLeaf = (kind: string) => kind in LEAVES
  const next = (from: number) =>
    (isLeaf(specs[from]?.kind ?? '') ? [] : (specs[from]?.slots ?? [])).flatMap(({ node }) =>
      node === undefined ? [] : [node % specs.length],
    )
  const reachable = (from: number) => {
    const seen = new Set(next(from))
    for (const place of seen) for (const further of next(place)) seen.add(further)
    return seen
  }
  return [0, ...reachable(0)].some(
    (place) => specs[place]?.kind === 'box' && reachable(place).has(place),
  )
}

/** The first difference between the two, if there is one. Objects must correspond one to one. */
function difference(a: unknown, b: unknown, known = new Map<object, object>()): string | undefined {
  const back = new Map([...known].map(([one, other]) => [other, one]))
  const compare = (a: unknown, b: unknown, at: string): string | undefined => {
    if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null)
      return Object.is(a, b) ? undefined : `${at}: ${String(a)} is not ${String(b)}`
    if (known.has(a) || back.has(b)) return known.get(a) === b ? undefined : `${at}: identity`
    known.set(a, b)
    back.set(b, a)
    if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return `${at}: prototype`
    const [mine, theirs] = [contentOf(a), contentOf(b)]
    if (mine.length !== theirs.length) return `${at}: ${mine.length} is not ${theirs.length}`
    for (const [n, value] of mine.entries()) {
      const found = compare(value, theirs[n], `${at}/${n}`)
      if (found !== undefined) return found
    }
    return undefined
  }
  return compare(a, b, '')
}

/** Everything that makes up an object, as a list. */
function contentOf(object: object): unknown[] {
  if (ArrayBuffer.isView(object))
    return [
      'view',
      Buffer.from(object.buffer, object.byteOffset, object.byteLength).toString('hex'),
    ]
  const content: unknown[] = [Object.prototype.toString.call(object), types.isNativeError(object)]
  if (types.isDate(object)) content.push(object.getTime())
  if (types.isRegExp(object)) content.push(object.source, object.flags)
  if (object instanceof URL) content.push(object.href)
  if (types.isArrayBuffer(object)) content.push(Buffer.from(object).toString('hex'))
  if (types.isMap(object)) content.push(...[...object].flat(1))
  if (types.isSet(object)) content.push(...object)
  const keys = Reflect.ownKeys(object)
  if (types.isNativeError(object)) keys.sort((a, b) => (String(a) < String(b) ? -1 : 1))
  for (const key of keys) {
    const { enumerable, writable } = Object.getOwnPropertyDescriptor(object, key) ?? {}
    content.push(key, enumerable, writable, Reflect.get(object, key))
  }
  return content
}
