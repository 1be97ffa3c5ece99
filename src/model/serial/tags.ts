// The stored format, shared by encoder and decoder. JSON data is stored as itself. Everything else is an object with the single
// key "$"; a plain object with its own key "$" is escaped the same way:
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
//   {"$":["Class","Name",value]}                     the result of toValue of the registered class
//   {"$":["Def",0,value]} {"$":["Ref",0]}            the first and every further occurrence of a shared object
//
// A tag stays readable forever; a changed meaning gets a new tag.

/** Values that are stored by name. */
export const CONSTANTS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ['undefined', undefined],
  ['NaN', Number.NaN],
  ['Infinity', Number.POSITIVE_INFINITY],
  ['-Infinity', Number.NEGATIVE_INFINITY],
  ['-0', -0],
])

/** The non-enumerable properties of an Error that we store. The others belong to the engine. */
export const HIDDEN_IN_ERRORS = ['name', 'message', 'stack', 'cause', 'errors'] as const

type ErrorMaker = (properties: ReadonlyMap<string, unknown>) => Error

/** The Error classes that are restored exactly. A maker gets the properties that its constructor may need. */
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

/** Everything that is stored as its bytes in memory order. */
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

/** Typed arrays that this Node version may lack. */
function newerViews(): readonly ViewClass[] {
  const half: unknown = Reflect.get(globalThis, 'Float16Array')
  return isViewClass(half) ? [half] : []
}

function isViewClass(value: unknown): value is ViewClass {
  return typeof value === 'function' && 'BYTES_PER_ELEMENT' in value
}

/**
 * The name of the built-in class with this prototype; undefined for all others. Native classes of another realm (`node:vm`, some
 * test runners) count too: their objects are restored as objects of this realm.
 */
export function builtinName(prototype: object): string | undefined {
  const known = KNOWN_PROTOTYPES.get(prototype)
  if (known !== undefined) return known
  const maker: unknown = Object.getOwnPropertyDescriptor(prototype, 'constructor')?.value
  if (typeof maker !== 'function' || maker.prototype !== prototype) return undefined
  return NATIVE.test(Function.prototype.toString.call(maker)) ? maker.name : undefined
}

const NATIVE = /\{\s*\[native code\]\s*\}$/

/** The frequent ones, and those that Node implements in JavaScript. */
const KNOWN_PROTOTYPES: ReadonlyMap<unknown, string> = new Map(
  [Object, Array, Date, Map, Set, RegExp, Error, Uint8Array, Buffer, URL, DOMException].map(
    ({ prototype, name }) => [prototype, name],
  ),
)
