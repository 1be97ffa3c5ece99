// Interprets one piece of stored JSON; decode.ts continues with its contents. Every tag is validated. Properties are defined,
// never assigned, so that no key in a text reaches a prototype.
import type { ClassRegistry } from './registry.js'
import { BYTES_MAKERS, type BytesMaker, CONSTANTS, ERROR_MAKERS } from './tags.js'
import { failedClass, malformed, unknownClass, unknownKind } from './unreadable.js'

export type Slots = unknown[] | Record<string, unknown>

/** Slots from index `first` on contain JSON that is still to be decoded in place. */
type Inside = { readonly slots: Slots; readonly first: number }

export type Piece =
  | { readonly type: 'complete'; readonly value: unknown }
  /** The container exists already. `finish` adds the decoded contents. */
  | (Inside & { readonly type: 'open'; readonly value: object; readonly finish?: () => void })
  /** Can be created only from its decoded contents. */
  | (Inside & { readonly type: 'late'; readonly make: () => unknown })
  | { readonly type: 'definition'; readonly id: number; readonly inner: object }
  | { readonly type: 'reference'; readonly id: number }

/** Its constructor sets these; they are not own properties. */
const SET_BY_DOM_EXCEPTION: readonly string[] = ['name', 'message']

export function pieceOf(json: object, classes: ClassRegistry | undefined): Piece {
  if (Array.isArray(json)) return { type: 'open', value: json, slots: json, first: 0 }
  if (!Object.hasOwn(json, '$')) return record(json)
  if (Object.keys(json).length > 1) throw malformed('a tag beside other keys')
  const tag: unknown = Reflect.get(json, '$')
  if (typeof tag === 'string' && CONSTANTS.has(tag)) return complete(CONSTANTS.get(tag))
  const args: unknown[] = Array.isArray(tag) ? tag : [tag]
  const [name] = args
  if (typeof name !== 'string') throw malformed('a tag without a name')
  const bytes = BYTES_MAKERS.get(name)
  if (bytes !== undefined) return complete(readBytes(args[1], bytes))
  const read = READERS.get(name)
  if (read === undefined) throw unknownKind(name)
  return read(args, classes)
}

/** `args` are the tag and its arguments. */
type Reader = (args: unknown[], classes: ClassRegistry | undefined) => Piece

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['BigInt', ([, digits]) => complete(readBigInt(digits))],
  ['Date', ([, timeMs]) => complete(readDate(timeMs))],
  ['URL', ([, text]) => complete(readUrl(text))],
  ['Map', map],
  ['Set', set],
  ['Array', arrayWithHoles],
  ['RegExp', regExp],
  ['Error', error],
  ['Object', ([, json]) => record(recordIn(json))],
  ['Bare', ([, json]) => record(Object.setPrototypeOf(recordIn(json), null))],
  ['Class', instance],
  ['Def', ([, id, json]) => ({ type: 'definition', id: countIn(id), inner: objectIn(json) })],
  ['Ref', ([, id]) => ({ type: 'reference', id: countIn(id) })],
])

function complete(value: unknown): Piece {
  return { type: 'complete', value }
}

function record(json: object): Piece {
  return { type: 'open', value: json, slots: json as Record<string, unknown>, first: 0 }
}

function map(args: unknown[]): Piece {
  if (args.length % 2 === 0) throw malformed('a Map with a key but no value')
  const value = new Map<unknown, unknown>()
  const finish = () => {
    for (let place = 1; place < args.length; place += 2) value.set(args[place], args[place + 1])
  }
  return { type: 'open', value, slots: args, first: 1, finish }
}

function set(args: unknown[]): Piece {
  const value = new Set<unknown>()
  const finish = () => {
    for (const member of args.slice(1)) value.add(member)
  }
  return { type: 'open', value, slots: args, first: 1, finish }
}

function arrayWithHoles(args: unknown[]): Piece {
  const value: unknown[] = []
  value.length = lengthIn(args[1])
  if (args.length % 2 !== 0) throw malformed('an array with an index but no item')
  const indexes = args.filter((_, place) => place >= 2 && place % 2 === 0).map(countIn)
  if (indexes.some((index) => index >= value.length))
    throw malformed('an array with an item after its end')
  const finish = () => {
    for (const [place, index] of indexes.entries()) value[index] = args[2 * place + 3]
  }
  return { type: 'open', value, slots: args, first: 2, finish }
}

function regExp(args: unknown[]): Piece {
  const value = readRegExp(args[1], args[2])
  if (args.length !== 4) throw malformed('a RegExp without lastIndex')
  const finish = () => Object.defineProperty(value, 'lastIndex', { value: args[3] })
  return { type: 'open', value, slots: args, first: 3, finish }
}

function error(args: unknown[]): Piece {
  const [, kind, hiddenCount] = args
  const make = typeof kind === 'string' ? ERROR_MAKERS.get(kind) : undefined
  if (make === undefined || args.length % 2 === 0) throw malformed('an Error of an unknown kind')
  const shownFrom = countIn(hiddenCount)
  const keys = args.filter((_, place) => place >= 3 && place % 2 === 1).map(stringIn)
  const value = make(new Map(keys.map((key, place) => [key, args[2 * place + 4]])))
  const ownStack = Object.getOwnPropertyDescriptor(value, 'stack')
  // Remove what the constructor set, such as the current stack.
  for (const key of Object.getOwnPropertyNames(value)) Reflect.deleteProperty(value, key)
  const finish = () => {
    for (const [place, key] of keys.entries()) {
      if (kind === 'DOMException' && SET_BY_DOM_EXCEPTION.includes(key)) continue
      const [held, enumerable] = [args[2 * place + 4], place >= shownFrom]
      const isUsualStack = key === 'stack' && !enumerable && typeof held === 'string'
      // Since Node 22 the stack is an accessor property of the engine.
      if (isUsualStack && ownStack?.set !== undefined) {
        Object.defineProperty(value, key, ownStack)
        ownStack.set.call(value, held)
      } else define(value, key, { value: held, enumerable })
    }
  }
  return { type: 'open', value, slots: args, first: 3, finish }
}

function instance([, name, ...inside]: unknown[], classes: ClassRegistry | undefined): Piece {
  const known = classes?.named(stringIn(name))
  if (known === undefined) throw unknownClass(stringIn(name))
  if (inside.length !== 1) throw malformed('an instance of a class without its value')
  const make = () => {
    try {
      return known.fromValue(inside[0])
    } catch (cause) {
      throw failedClass(known.name, cause)
    }
  }
  return { type: 'late', slots: inside, first: 0, make }
}

/** Sets a property, also one called `__proto__`. */
export function define(
  object: object,
  key: string,
  { value, enumerable }: { readonly value: unknown; readonly enumerable: boolean },
): void {
  Object.defineProperty(object, key, { value, enumerable, writable: true, configurable: true })
}

function objectIn(json: unknown): object {
  if (typeof json === 'object' && json !== null) return json
  throw malformed('a tag without its object')
}

function recordIn(json: unknown): object {
  if (!Array.isArray(json)) return objectIn(json)
  throw malformed('a tag with an array for its object')
}

function stringIn(json: unknown): string {
  if (typeof json === 'string') return json
  throw malformed('a tag without its name')
}

function countIn(json: unknown): number {
  if (typeof json === 'number' && Number.isSafeInteger(json) && json >= 0) return json
  throw malformed('a tag without its number')
}

function lengthIn(json: unknown): number {
  const length = countIn(json)
  if (length < 2 ** 32) return length
  throw malformed('an array that is too long')
}

function readRegExp(source: unknown, flags: unknown): RegExp {
  if (typeof source !== 'string' || typeof flags !== 'string')
    throw malformed('a RegExp without source and flags')
  try {
    return new RegExp(source, flags)
  } catch (cause) {
    throw malformed(`an invalid RegExp, /${source}/${flags}`, cause)
  }
}

function readBytes(text: unknown, { unitBytes, make }: BytesMaker): object {
  if (typeof text !== 'string') throw malformed('a tag for bytes without bytes')
  const bytes = Buffer.from(text, 'base64')
  // Node skips invalid base64 instead of rejecting it.
  if (bytes.toString('base64') !== text || bytes.length % unitBytes !== 0)
    throw malformed('a tag for bytes with damaged bytes')
  // Small Buffers share one memory pool; the result gets its own memory.
  const own = new ArrayBuffer(bytes.length)
  bytes.copy(new Uint8Array(own))
  return make(own)
}

function readBigInt(text: unknown): bigint {
  if (typeof text !== 'string' || !/^-?\d+$/.test(text)) throw malformed('a BigInt without digits')
  return BigInt(text)
}

function readDate(timeMs: unknown): Date {
  if (timeMs === null) return new Date(Number.NaN)
  if (typeof timeMs !== 'number') throw malformed('a Date without a time')
  return new Date(timeMs)
}

function readUrl(text: unknown): URL {
  if (typeof text !== 'string' || !URL.canParse(text)) throw malformed('an invalid URL')
  return new URL(text)
}
