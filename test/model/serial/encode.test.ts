import { runInNewContext } from 'node:vm'
import { expect, test } from 'vitest'
import { decodeValue } from '../../../src/model/serial/decode.js'
import { encodeValue } from '../../../src/model/serial/encode.js'
import { ClassRegistry } from '../../../src/model/serial/registry.js'

const textOf = (value: unknown) => encodeValue(value).text

/** The message and hint, or what was returned instead. */
function refusal(value: unknown, path: readonly (string | number)[] = []) {
  try {
    return encodeValue(value, { path })
  } catch (error) {
    return error
  }
}

test('JSON data is stored as JSON.stringify writes it', () => {
  const message = {
    role: 'assistant',
    content: 'Look \ud800 here\0',
    toolCalls: [{ id: 'call_1', name: 'read', args: { path: 'a.ts', lines: [1, 2.5], all: null } }],
    7: JSON.parse('{"__proto__":{"admin":true},"constructor":1,"toJSON":"x"}'),
  }
  for (const value of [message, [], {}, null, 'text', 0, -1.5e300, true, [[[]]]]) {
    expect(encodeValue(value)).toEqual({ text: JSON.stringify(value), plain: true })
  }
})

test('each kind that JSON lacks has a tag', () => {
  const typed = new TypeError('no', { cause: null })
  typed.stack = 'at a'
  const cases: readonly (readonly [unknown, string])[] = [
    [undefined, '{"$":"undefined"}'],
    [
      [Number.NaN, Infinity, -Infinity, -0],
      '[{"$":"NaN"},{"$":"Infinity"},{"$":"-Infinity"},{"$":"-0"}]',
    ],
    [-12n, '{"$":["BigInt","-12"]}'],
    [new Date(1_700_000_000_000), '{"$":["Date",1700000000000]}'],
    [new Date(Number.NaN), '{"$":["Date",null]}'],
    [/a\/b/gi, '{"$":["RegExp","a\\\\/b","gi",0]}'],
    [new URL('http://a.b/c d'), '{"$":["URL","http://a.b/c%20d"]}'],
    [Buffer.from([0, 1, 2]), '{"$":["Buffer","AAEC"]}'],
    [new Uint8Array([0, 1, 2]).subarray(1), '{"$":["Uint8Array","AQI="]}'],
    [new DataView(new ArrayBuffer(3), 1), '{"$":["DataView","AAA="]}'],
    [new ArrayBuffer(0), '{"$":["ArrayBuffer",""]}'],
    [
      new Map<unknown, unknown>([
        [{}, 1],
        [undefined, 'b'],
      ]),
      '{"$":["Map",{},1,{"$":"undefined"},"b"]}',
    ],
    [new Set([1, [2]]), '{"$":["Set",1,[2]]}'],
    [
      Object.assign([], { 1: 1, 3: undefined, length: 5 }),
      '{"$":["Array",5,1,1,3,{"$":"undefined"}]}',
    ],
    [Object.assign([], { length: 4_294_967_295 }), '{"$":["Array",4294967295]}'],
    [Object.create(null, { $: { value: 1, enumerable: true } }), '{"$":["Bare",{"$":1}]}'],
    [{ a: { $: ['Date', 0] } }, '{"a":{"$":["Object",{"$":["Date",0]}]}}'],
    [typed, '{"$":["Error","TypeError",3,"message","no","stack","at a","cause",null]}'],
  ]
  expect(cases.map(([value]) => textOf(value))).toEqual(cases.map(([, text]) => text))
  expect(encodeValue({ a: undefined })).toMatchObject({ plain: false })
})

test('an object that occurs twice is stored once, and cycles terminate', () => {
  const shared = { n: 1 }
  const cycle: Record<string, unknown> = { shared, again: [shared] }
  cycle['self'] = cycle
  expect(textOf(cycle)).toBe(
    '{"$":["Def",1,{"shared":{"$":["Def",0,{"n":1}]},"again":[{"$":["Ref",0]}],"self":{"$":["Ref",1]}}]}',
  )
})

test('a value that cannot be restored exactly is refused, with its path and advice', () => {
  class Tool {}
  const iterator = [1].values()
  const givenAway = new Uint8Array(1)
  structuredClone(givenAway.buffer, { transfer: [givenAway.buffer] })
  const generator = (function* () {
    yield 1
  })()
  const cases: readonly (readonly [unknown, string])[] = [
    [() => 1, 'is a function'],
    [Tool, 'is a function'],
    [Symbol('id'), 'is a symbol'],
    [{ [Symbol('id')]: 1 }, 'has the symbol Symbol(id) as a key'],
    [new Map([[1, 1]]).entries(), 'is an iterator'],
    [iterator, 'is an iterator'],
    [generator, 'is a generator'],
    [new WeakMap(), 'is a WeakMap'],
    [new WeakSet(), 'is a WeakSet'],
    [new WeakRef({}), 'is a WeakRef'],
    [Promise.resolve(1), 'is a Promise'],
    [new SharedArrayBuffer(1), 'is a SharedArrayBuffer'],
    [new Uint8Array(new SharedArrayBuffer(1)), 'is memory that is shared between threads'],
    [
      new Uint8Array(Reflect.construct(ArrayBuffer, [1, { maxByteLength: 2 }])),
      'is memory that can be resized',
    ],
    [givenAway, 'is memory that was given away to another thread'],
    [Math, 'is a Math object'],
    [
      (function () {
        return arguments
      })(),
      'is an Arguments object',
    ],
    [Object(1), 'is a Number object'],
    [Object('a'), 'is a String object'],
    [Object(Symbol('a')), 'is a Symbol object'],
    [new Tool(), 'is an instance of Tool, which is not registered'],
    [
      new (class extends Map {})(),
      'is an instance of a class without a name, which is not registered',
    ],
    [new (class Stack extends Array {})(), 'is an instance of Stack, which is not registered'],
    [new Response(), 'is an instance of Response, which is not registered'],
    [new URLSearchParams(), 'is an instance of URLSearchParams, which is not registered'],
    [Object.create({ inherited: 1 }), 'has a prototype that is not a class'],
    [Object.create(Date.prototype), 'is an instance of Date, which is not registered'],
    [Object.assign([1], { extra: 1 }), 'is an array with the extra property "extra"'],
    [Object.assign([], { 1: 1, extra: 1 }), 'is an array with the extra property "extra"'],
    [Object.assign([1], { '-1': 1 }), 'is an array with the extra property "-1"'],
    [Object.assign(new Map(), { extra: 1 }), 'is a Map with the extra property "extra"'],
    [Object.assign(new Date(0), { extra: 1 }), 'is a Date with the extra property "extra"'],
    [Object.assign(Buffer.alloc(2), { extra: 1 }), 'is a Buffer with the extra property "extra"'],
    [
      Object.assign(new ArrayBuffer(2), { extra: 1 }),
      'is an ArrayBuffer with the extra property "extra"',
    ],
    [Object.assign([1], { [Symbol('s')]: 1 }), 'has the symbol Symbol(s) as a key'],
  ]
  for (const [value, reason] of cases) {
    expect(refusal([{ tool: value }], ['messages', 3])).toMatchObject({
      code: 'STATE_UNSTORABLE',
      message: `Cannot store messages[3][0].tool: it ${reason}`,
      hint: expect.stringMatching(/\.$/),
    })
  }
})

test('the path of a refusal goes through every kind of object', () => {
  const run = () => 1
  const inClass = new (class Agent {
    parts = [{ run }]
  })()
  const classes = new ClassRegistry()
  classes.register('Agent', {
    type: Object(inClass).constructor,
    toValue: (agent) => ({ ...Object(agent) }),
    fromValue: (value) => value,
  })
  const cases: readonly (readonly [unknown, string])[] = [
    [run, 'the value'],
    [
      new Map([
        [{}, 1],
        [{ run }, 2],
      ]),
      '[1].key.run',
    ],
    [new Map([['a', [run]]]), '[0].value[0]'],
    [new Set([1, run]), '[1]'],
    [Object.assign([], { 2: run }), '[2]'],
    [new Error('x', { cause: { run } }), 'cause.run'],
    [Object.assign(new Error('x'), { code: run }), 'code'],
    [new AggregateError([run]), 'errors[0]'],
    [Object.assign(/a/, { lastIndex: run }), 'lastIndex'],
    [{ $: { 'odd key': run } }, '$["odd key"]'],
    [Object.assign(Object.create(null), { run }), 'run'],
    [{ agent: inClass }, 'agent.parts[0].run'],
  ]
  for (const [value, path] of cases) {
    expect(() => encodeValue(value, { classes })).toThrow(`Cannot store ${path}: it is a function`)
  }
})

test('a reference back to an object that contains the value is refused, with its path', () => {
  const list: unknown[] = []
  const state = { list }
  const message = { role: 'user', meta: { around: list } }
  list.push(message)
  const options = { path: ['list', 0], containers: [state, list] }
  expect(() => encodeValue(message, options)).toThrow(
    'Cannot store list[0].meta.around: it refers back to the state, or to a list or object of the state, that contains it',
  )
  expect(() => encodeValue(list, options)).toThrow('Cannot store list[0]: it refers back')
  expect(encodeValue({ role: 'user' }, options)).toEqual({ text: '{"role":"user"}', plain: true })
})

test('100,000 levels are stored and read, plain or not', () => {
  const nested = (innermost: unknown) => {
    let value = innermost
    for (let level = 0; level < 50_000; level += 1) value = [{ value }]
    return value
  }
  const plain = encodeValue(nested(1))
  expect(plain.text).toBe(`${'[{"value":'.repeat(50_000)}1${'}]'.repeat(50_000)}`)
  expect(plain.plain).toBe(true)
  for (const { text } of [plain, encodeValue(nested(new Map([[1n, undefined]])))]) {
    expect(textOf(decodeValue(text))).toBe(text)
  }
  expect(() => encodeValue(nested(Symbol('deep')))).toThrow(/it is a symbol$/)
})

test('an endless value is refused as nested too deeply', () => {
  class Endless {}
  const classes = new ClassRegistry()
  classes.register('Endless', {
    type: Endless,
    toValue: () => new Endless(),
    fromValue: () => new Endless(),
  })
  expect(() => encodeValue(new Endless(), { classes })).toThrow(/it is nested too deeply$/)
})

test('toJSON is never called, not even one that all objects have', () => {
  const toJSON = { value: () => 'called', configurable: true }
  Object.defineProperty(Object.prototype, 'toJSON', toJSON)
  try {
    expect(encodeValue({ a: [1] })).toEqual({ text: '{"a":[1]}', plain: true })
    expect(textOf({ toJSON: 1 })).toBe('{"toJSON":1}')
  } finally {
    Reflect.deleteProperty(Object.prototype, 'toJSON')
  }
})

test('objects of another realm are stored as those of this one', () => {
  const foreign: unknown = runInNewContext(
    '({ list: [1], map: new Map([[1, new Date(5)]]), bytes: new Uint8Array([1]), error: new RangeError("r") })',
  )
  const value = Object(decodeValue(textOf(foreign)))
  expect(value).toStrictEqual({
    list: [1],
    map: new Map([[1, new Date(5)]]),
    bytes: new Uint8Array([1]),
    error: new RangeError('r'),
  })
  expect(value.error).toBeInstanceOf(RangeError)
})

test('proxies and getters are stored as they appear, in the order of decoding', () => {
  const shared = {}
  const target = { b: shared, 1: shared }
  const proxy = new Proxy(target, { ownKeys: () => ['b', '1'] })
  const getter = {
    get late() {
      return 5
    },
  }
  expect(decodeValue(textOf([proxy, getter]))).toEqual([target, { late: 5 }])
})

test('a value too large for one text is refused, with its path', () => {
  const tooLong = { code: 'STATE_UNSTORABLE', message: expect.stringContaining('it is too large') }
  // Four letters for three bytes. This memory is never touched, so it takes no space.
  expect(refusal({ bytes: new ArrayBuffer(420_000_000) }, ['kept'])).toMatchObject({
    ...tooLong,
    message: 'Cannot store kept: it is too large to be written as one text',
  })
  // Six letters for one byte.
  expect(refusal(['\u0001'.repeat(100_000_000)])).toMatchObject(tooLong)
})
