import { expect, test } from 'vitest'
import { decodeValue } from '../../../src/model/serial/decode.js'
import { encodeValue } from '../../../src/model/serial/encode.js'
import { ClassRegistry } from '../../../src/model/serial/registry.js'

class Point {
  readonly #x: number
  readonly #y: number
  constructor(x: number, y: number) {
    this.#x = x
    this.#y = y
  }
  get pair() {
    return [this.#x, this.#y] as const
  }
}
class Point3 extends Point {}

function points(): ClassRegistry {
  const classes = new ClassRegistry()
  classes.register('Point', {
    type: Point,
    toValue: ({ pair }) => pair,
    fromValue: (value) => {
      if (!Array.isArray(value) || value.length !== 2) throw new TypeError('not a pair')
      return new Point(Number(value[0]), Number(value[1]))
    },
  })
  return classes
}

const problem = (run: () => unknown) => {
  try {
    return run()
  } catch (error) {
    return error
  }
}

test('an instance of a registered class is restored by its codec, also if it is shared', () => {
  const classes = points()
  const point = new Point(1, -0)
  const { text } = encodeValue({ a: point, b: new Map([[point, 1]]) }, { classes })
  expect(text).toBe(
    '{"a":{"$":["Def",0,{"$":["Class","Point",[1,{"$":"-0"}]]}]},"b":{"$":["Map",{"$":["Ref",0]},1]}}',
  )
  const { a, b } = Object(decodeValue(text, { classes }))
  expect(a).toBeInstanceOf(Point)
  expect(a.pair).toEqual([1, -0])
  expect(b.get(a)).toBe(1)
})

test('the result of toValue is stored with all its kinds, and is complete when fromValue gets it', () => {
  class Job {
    constructor(readonly parts: unknown) {}
  }
  const classes = points()
  const given: unknown[] = []
  classes.register('Job', {
    type: Job,
    toValue: ({ parts }) => parts,
    fromValue: (value) => {
      given.push(structuredClone(value))
      return new Job(value)
    },
  })
  const parts = { at: new Date(5), ids: new Set([1n]), list: [undefined, [Number.NaN]] }
  const { text } = encodeValue([new Job(parts)], { classes })
  expect(decodeValue(text, { classes })).toStrictEqual([new Job(parts)])
  expect(given).toStrictEqual([parts])
})

test('a class is matched exactly: an instance of a subclass is refused', () => {
  const state = { shapes: [new Point3(1, 2)] }
  expect(() => encodeValue(state, { classes: points() })).toThrow(
    'Cannot store shapes[0]: it is an instance of Point3, which is not registered',
  )
})

test('an Error or a built-in class that is registered goes through its codec', () => {
  class Denied extends Error {}
  const classes = new ClassRegistry()
  classes.register('Denied', {
    type: Denied,
    toValue: ({ message }) => message,
    fromValue: (value) => new Denied(String(value)),
  })
  classes.register('URLSearchParams', {
    type: URLSearchParams,
    toValue: String,
    fromValue: (value) => new URLSearchParams(String(value)),
  })
  const { text } = encodeValue([new Denied('no'), new URLSearchParams('a=1&a=2')], { classes })
  expect(text).toBe('[{"$":["Class","Denied","no"]},{"$":["Class","URLSearchParams","a=1&a=2"]}]')
  const [denied, query] = Object(decodeValue(text, { classes }))
  expect(denied).toBeInstanceOf(Denied)
  expect(query.getAll('a')).toEqual(['1', '2'])
})

test('a failing codec is named, with the cause', () => {
  const classes = new ClassRegistry()
  const cause = new Error('no disk')
  const fail = () => {
    throw cause
  }
  classes.register('Point', { type: Point, toValue: fail, fromValue: fail })
  expect(problem(() => encodeValue({ at: new Point(1, 2) }, { classes }))).toMatchObject({
    code: 'STATE_UNSTORABLE',
    message: 'Cannot store at: it is an instance of Point, whose toValue failed',
    cause,
  })
  expect(problem(() => decodeValue('{"$":["Class","Point",1]}', { classes }))).toMatchObject({
    code: 'STATE_UNREADABLE',
    message: 'The stored state contains an instance of Point, whose fromValue failed',
    cause,
  })
})

test('a cycle through an instance is refused, wherever it closes', () => {
  class Node {
    links: unknown
  }
  const classes = new ClassRegistry()
  classes.register('Node', {
    type: Node,
    toValue: ({ links }) => ({ links }),
    fromValue: (value) => Object.assign(new Node(), value),
  })
  const refused = (value: unknown) => problem(() => encodeValue(value, { classes }))
  const itself = new Node()
  itself.links = [itself]
  const held = new Node()
  const holder = { nodes: new Map([['held', held]]) }
  held.links = { back: holder }
  const aside: { back?: unknown } = {}
  const around = { aside, node: new Node() }
  aside.back = around
  around.node.links = aside
  const inner: { middle?: unknown; outer?: unknown } = {}
  const outer = { middle: { inner }, node: new Node() }
  inner.middle = outer.middle
  inner.outer = outer
  outer.node.links = inner
  expect([itself, holder, around, outer].map(refused).map(String)).toEqual(
    ['links[0]', 'nodes[0].value.links.back', 'node.links', 'node.links'].map(
      (path) =>
        `SavestateError: Cannot store ${path}: it refers back to itself through an instance of Node, a registered class`,
    ),
  )
})

test('a name and a class can be registered only once, and never Object or Array', () => {
  const classes = points()
  const codec = { toValue: () => 1, fromValue: () => new Point3(1, 2) }
  const attempts = [
    () => classes.register('Point', { type: Point3, ...codec }),
    () => classes.register('Punkt', { type: Point, ...codec }),
    () => classes.register('Object', { type: Object, ...codec }),
    () => classes.register('Array', { type: Array<number>, ...codec, fromValue: () => [] }),
  ]
  expect(attempts.map((attempt) => String(problem(attempt)))).toEqual([
    'SavestateError: A class is already registered as "Point"',
    'SavestateError: Point is already registered as "Point"',
    'SavestateError: Object cannot be registered: it is stored as it is',
    'SavestateError: Array cannot be registered: it is stored as it is',
  ])
})
