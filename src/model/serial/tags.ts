// The stored form, shared by both directions. JSON data is stored as itself. Everything else is an object
// with the one key "$", and so is a plain object that has a key "$" of its own:
//
//   {"$":"undefined"}  also "NaN", "Infinity", "-Infinity", "-0"
//   {"$":["BigInt","12"]}
//   {"$":["Date",1700000000000]}                     null when it is invalid
//   {"$":["RegExp","a+","g",0]}                      source, flags, lastIndex
//   {"$":["URL","https://example.org/"]}
//   {"$":["Buffer","AAEC"]}                          base64; so are ArrayBuffer, DataView and all typed arrays
//   {"$":["Map",key,value,key,value]}
//   {"$":["Set",member,member]}
//   {"$":["Array",9,2,value,5,value]}                with holes: the length, then index and value
//   {"$":["Error","TypeError",1,"message","no","code","E"]}  how many properties are not enumerable, then all
//   {"$":["Bare",{…}]}                               no prototype
//   {"$":["Object",{"$":…}]}                         the escape
//   {"$":["Class","Name",value]}                     what the registered class gave
//   {"$":["Def",0,value]} {"$":["Ref",0]}            the first and each further place of a shared object
//
// A tag that is written stays readable forever; a change of meaning is a new tag.

/** Values that are stored as their name alone. */
export const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['undefined', undefined],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
])

/** What an Error holds without showing it. The rest of its hidden properties are the engine's. */
export const HIDDEN_IN_ERRORS = ['name', 'message', 'stack', 'cause', 'errors'] as const

type ErrorMaker = (properties: ReadonlyMap<string, unknown>) => Error

/** The Errors that come back as what they were. A maker gets the properties that a constructor may need. */
export const ERROR_MAKERS: ReadonlyMap<string, ErrorMaker> = new Map<string, ErrorMaker>([
  ['Error', () => new Error()],
  ['EvalError', () => new EvalError()],
  ['RangeError', () => new RangeError()],
  ['ReferenceError', () => new ReferenceError()],
  ['SyntaxError', () => new SyntaxError()],
  ['TypeError', () => new TypeError()],
  ['URIError', () => new URIError()],
  ['AggregateError', () => new AggregateError([])],
  [
    'DOMException',
    (properties) =>
      new DOMException(
        textOf(properties.get('message'), ''),
        textOf(properties.get('name'), 'Error'),
      ),
  ],
])

function textOf(value: unknown, otherwise: string): string {
  return typeof value === 'string' ? value : otherwise
}

export type BytesMaker = {
  readonly unitBytes: number
  readonly make: (bytes: ArrayBuffer) => ArrayBuffer | ArrayBufferView
}

type ViewClass = {
  readonly name: string
  readonly BYTES_PER_ELEMENT: number
  new (bytes: ArrayBuffer): ArrayBufferView
}

/** Everything that is stored as its bytes, as they lie in memory. */
export const BYTES_MAKERS: ReadonlyMap<string, BytesMaker> = new Map<string, BytesMaker>([
  ['ArrayBuffer', { unitBytes: 1, make: (bytes) => bytes }],
  ['Buffer', { unitBytes: 1, make: (bytes) => Buffer.from(bytes) }],
  ['DataView', { unitBytes: 1, make: (bytes) => new DataView(bytes) }],
  ...[
    Int8Array,
    Uint8Array,
    Uint8ClampedArray,
    Int16Array,
    Uint16Array,
    Int32Array,
    Uint32Array,
    Float32Array,
    Float64Array,
    BigInt64Array,
    BigUint64Array,
    ...newerViews(),
  ].map(viewMaker),
])

function viewMaker(view: ViewClass): [string, BytesMaker] {
  return [view.name, { unitBytes: view.BYTES_PER_ELEMENT, make: (bytes) => new view(bytes) }]
}

/** Typed arrays that this version of Node may not have. */
function newerViews(): readonly ViewClass[] {
  const half: unknown = Reflect.get(globalThis, 'Float16Array')
  return isViewClass(half) ? [half] : []
}

function isViewClass(value: unknown): value is ViewClass {
  return typeof value === 'function' && 'BYTES_PER_ELEMENT' in value
}

/**
 * The name of the built-in class that this is the prototype of; undefined for all others. The native classes
 * of another realm (`node:vm`, some test runners) count: their objects come back as those of this realm.
 */
export function builtinName(prototype: object): string | undefined {
  const known = KNOWN_PROTOTYPES.get(prototype)
  if (known !== undefined) return known
  const maker: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  if (typeof maker !== 'function' || maker.prototype !== prototype) return undefined
  return NATIVE.test(Function.prototype.toString.call(maker)) ? maker.name : undefined
}

const NATIVE = /\{\s*\[native code\]\s*\}$/

/** The frequent ones, and those that Node has built in without being native. */
const KNOWN_PROTOTYPES: ReadonlyMap<unknown, string> = new Map(
  [Object, Array, Date, Map, Set, RegExp, Error, Uint8Array, Buffer, URL, DOMException].map(
    ({ prototype, name }) => [prototype, name],
  ),
)
