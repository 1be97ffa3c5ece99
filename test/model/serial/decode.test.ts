import { expect, test } from 'vitest'
import { decodeValue } from '../../../src/model/serial/decode.js'
import { encodeValue } from '../../../src/model/serial/encode.js'
import { ClassRegistry } from '../../../src/model/serial/registry.js'

/** Object() only widens the type: the value stays the same. */
const back = (value: unknown) => Object(decodeValue(encodeValue(value).text))
const read = (text: string) => decodeValue(text)

function refusal(text: string, classes?: ClassRegistry): unknown {
  try {
    return decodeValue(text, classes === undefined ? {} : { classes })
  } catch (error) {
    return error
  }
}

test('bytes are restored as views of separate memory', () => {
  const memory = new Uint8Array([1, 2, 3, 4, 5, 6, 7, 8]).buffer
  const views = [
    new Int8Array(memory, 1, 2),
    new Uint8Array(memory, 3),
    new Uint8ClampedArray(memory, 7, 1),
    new Int16Array(memory, 2, 1),
    new Uint16Array(memory, 2, 2),
    new Int32Array(memory, 4, 1),
    new Uint32Array(memory),
    new Float32Array(memory, 4),
    new Float64Array(memory),
    new BigInt64Array(memory),
    new BigUint64Array(memory, 8),
    new DataView(memory, 5, 2),
    Buffer.from(memory, 2, 3),
    memory,
  ]
  const read: (typeof views)[number][] = back(views)
  expect(read).toStrictEqual(views)
  expect(read.map(({ constructor }) => constructor)).toEqual(views.map((view) => view.constructor))
  const own = read.map((view) => (view instanceof ArrayBuffer ? view : view.buffer).byteLength)
  expect(own).toEqual([2, 5, 1, 2, 4, 4, 8, 4, 8, 8, 0, 2, 3, 8])
})

test('an Error is restored with its class, its stack, its cause and its properties', () => {
  class Denied extends Error {
    override readonly name = 'Denied'
    readonly path = '/etc'
  }
  class Quiet extends SyntaxError {
    override get name() {
      return 'Quiet'
    }
  }
  const system = Object.assign(new TypeError('bad'), { code: 'ENOENT', errno: -2 })
  const error = new AggregateError([new Denied('a'), new Quiet('b'), new RangeError()], 'all', {
    cause: system,
  })
  const read = back(error)
  expect(read).toBeInstanceOf(AggregateError)
  expect(Object.getOwnPropertyDescriptors(read.cause)).toEqual(
    Object.getOwnPropertyDescriptors(system),
  )
  expect(
    [read, read.cause, ...read.errors].map((it) => [
      Object.getPrototypeOf(it),
      String(it),
      it.stack,
    ]),
  ).toEqual([
    [AggregateError.prototype, 'AggregateError: all', error.stack],
    [TypeError.prototype, 'TypeError: bad', system.stack],
    [Error.prototype, 'Denied: a', error.errors[0].stack],
    [SyntaxError.prototype, 'Quiet: b', error.errors[1].stack],
    [RangeError.prototype, 'RangeError', error.errors[2].stack],
  ])
  expect({ ...read.errors[0] }).toEqual({ name: 'Denied', path: '/etc' })
})

test('an Error may be its own cause, and an abort stays an abort', () => {
  const loop = new Error('loop')
  loop.cause = loop
  expect(back(loop).cause.cause.message).toBe('loop')
  const abort = back(new DOMException('stop', 'AbortError'))
  expect(abort).toBeInstanceOf(DOMException)
  expect([abort.name, abort.message, abort.code]).toEqual(['AbortError', 'stop', 20])
})

test('data in the form of a tag is restored as data', () => {
  const values = [
    { $: 'NaN' },
    { $: ['Date', 0] },
    { $: ['Object', { $: 1 }] },
    { $: undefined, other: { $: { $: new Date(1) } } },
    { $: ['Ref', 0], list: [{ $: ['Far', ['a']] }] },
    '{"$":"NaN"}',
    ['Date', 0],
  ]
  expect(back(values)).toStrictEqual(values)
})

test('no key in a text reaches a prototype', () => {
  const key = '"__proto__"'
  const texts = [
    `{${key}:{"polluted":1}}`,
    `{${key}:{"$":["Bare",{"polluted":1}]}}`,
    `{"$":["Object",{"$":1,${key}:{"$":["Map"]}}]}`,
    `{"$":["Bare",{${key}:{"polluted":{"$":"undefined"}},"constructor":{"$":"NaN"}}]}`,
    `{"$":["Error","Error",0,${key},{"polluted":1},"constructor",{"$":"NaN"}]}`,
  ]
  for (const text of texts) {
    const value = Object(read(text))
    expect(Object.hasOwn(value, '__proto__')).toBe(true)
    expect(value.polluted).toBe(undefined)
    expect(encodeValue(value).text).toBe(text)
  }
  read(`{"$":["Error","Error",1,${key},{"polluted":1}]}`)
  expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  expect(Object.prototype.constructor).toBe(Object)
})

test('with plain, the text is plain JSON and nothing else', () => {
  const text = '{"a":[1,{"b":null}]}'
  expect(decodeValue(text, { plain: true })).toEqual({ a: [1, { b: null }] })
  expect(refusal('{"a":')).toMatchObject({ code: 'STATE_UNREADABLE' })
})

test('an unknown tag is named, with advice', () => {
  for (const text of ['[{"$":["Temporal.Instant",1]}]', '{"$":"Temporal.Instant"}']) {
    expect(refusal(text)).toMatchObject({
      code: 'STATE_UNREADABLE',
      message: 'The stored state contains a value of the unknown kind "Temporal.Instant"',
      hint: 'It was written by a newer version of Savestate. Update this one.',
    })
  }
  expect(refusal('{"$":"toString"}')).toMatchObject({ code: 'STATE_UNREADABLE' })
})

test('an instance of an unregistered class is refused by its name', () => {
  for (const classes of [undefined, new ClassRegistry()]) {
    expect(refusal('[{"$":["Class","Tool",1]}]', classes)).toMatchObject({
      code: 'STATE_UNREADABLE',
      message: 'The stored state contains an instance of Tool, which is not registered',
    })
  }
})
