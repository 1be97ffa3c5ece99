// Encodes a value as text. Plain JSON data goes through JSON.stringify. Everything else is walked iteratively, so that no depth
// overflows the stack, and in one pass: if an object turns out to be shared, the mark is wrapped around its existing text.
//
// An instance of a registered class is created from its finished value, so nothing in that value may lead back to the instance or
// its containers. `leadsTo` tracks that.
import type { ValuePath } from './path.js'
import { isPlainElement } from './plain.js'
import {
  isTooLong,
  LEADS_OUT,
  type Refusal,
  refuseScalar,
  TOO_DEEP,
  TOO_LONG,
  unstorable,
} from './refusal.js'
import type { ClassRegistry } from './registry.js'
import { type Shape, shapeOf } from './shape.js'

export type EncodedValue = {
  readonly text: string
  /** The text contains no tags: JSON.parse alone restores the value. */
  readonly plain: boolean
}

export type EncodeOptions = {
  /** The path of the value in the whole state, for messages. */
  readonly path?: ValuePath
  readonly classes?: ClassRegistry | undefined
  /** Objects that contain the value and are stored separately. A reference back to one of them is refused. */
  readonly containers?: readonly object[]
}

/** Stops a toValue or a getter that never ends before memory runs out. */
const MAX_DEPTH = 250_000

/**
 * Returns text from which `decodeValue` restores the same value: types, order, holes, sharing and cycles. For JSON data the
 * text equals that of JSON.stringify. Throws STATE_UNSTORABLE, with the path, if a value cannot be restored exactly. Never
 * calls toJSON.
 */
export function encodeValue(value: unknown, options: EncodeOptions = {}): EncodedValue {
  try {
    if (isPlainElement(value)) return { text: JSON.stringify(value), plain: true }
    return encodeTagged(value, options)
  } catch (error) {
    const { path = [] } = options
    throw isTooLong(error) ? unstorable(path, { ...TOO_LONG, cause: error }) : error
  }
}

/** An object that has been written, or is being written. */
type Written = {
  /** Indexes of its first and last part of the text; no last part while it is unfinished. */
  readonly start: number
  end: number | undefined
  /** How many objects contain it. */
  readonly depth: number
  /** Set once it occurs a second time. */
  id: number | undefined
  /** The outermost object that it leads back to. */
  leadsTo: Written | undefined
}

type Frame = { readonly shape: Shape; readonly written: Written; next: number }

type Draft = {
  readonly options: EncodeOptions
  readonly parts: string[]
  /** The objects around the current position, outermost first. */
  readonly frames: Frame[]
  /** Indexes in `frames` of instances of registered classes. */
  readonly classFrames: number[]
  readonly written: Map<object, Written>
  readonly shared: Written[]
  isTagged: boolean
}

function encodeTagged(value: unknown, options: EncodeOptions): EncodedValue {
  const draft: Draft = {
    options,
    parts: [],
    frames: [],
    classFrames: [],
    written: new Map(),
    shared: [],
    isTagged: false,
  }
  put(draft, value)
  for (let frame = draft.frames.at(-1); frame !== undefined; frame = draft.frames.at(-1)) {
    const slot = frame.shape.slots[frame.next]
    if (slot === undefined) {
      close(draft, frame)
      continue
    }
    frame.next += 1
    draft.parts.push(slot.before)
    put(draft, slot.value)
  }
  markShared(draft)
  return { text: draft.parts.join(''), plain: !draft.isTagged }
}

function put(draft: Draft, value: unknown): void {
  if (typeof value === 'object' && value !== null) {
    putObject(draft, value)
    return
  }
  if (typeof value === 'function' || typeof value === 'symbol') refuse(draft, refuseScalar(value))
  const text = plainScalarText(value)
  draft.parts.push(text ?? taggedScalarText(value))
  if (text === undefined) draft.isTagged = true
}

function plainScalarText(value: unknown): string | undefined {
  if (typeof value === 'bigint' || value === undefined) return undefined
  if (typeof value === 'number' && (!Number.isFinite(value) || Object.is(value, -0)))
    return undefined
  return JSON.stringify(value)
}

function taggedScalarText(value: unknown): string {
  if (typeof value === 'bigint') return `{"$":["BigInt","${value}"]}`
  return `{"$":"${Object.is(value, -0) ? '-0' : String(value)}"}`
}

function putObject(draft: Draft, object: object): void {
  const known = draft.written.get(object)
  if (known !== undefined) {
    putReference(draft, known)
    return
  }
  const { frames, parts, options } = draft
  if (options.containers?.includes(object) === true) refuse(draft, LEADS_OUT)
  if (frames.length >= MAX_DEPTH) refuse(draft, TOO_DEEP)
  const shape = shapeOf(object, options.classes)
  if ('reason' in shape) refuse(draft, shape)
  const depth = frames.length
  const written: Written = {
    start: parts.length,
    end: undefined,
    depth,
    id: undefined,
    leadsTo: undefined,
  }
  draft.written.set(object, written)
  draft.isTagged ||= shape.isTagged
  if (shape.ofClass !== undefined) draft.classFrames.push(depth)
  parts.push(shape.open)
  frames.push({ shape, written, next: 0 })
}

function close(draft: Draft, { shape, written }: Frame): void {
  written.end = draft.parts.length
  draft.parts.push(shape.close)
  draft.frames.pop()
  if (shape.ofClass !== undefined) draft.classFrames.pop()
  const around = draft.frames.at(-1)
  if (around !== undefined) noteLead(around.written, unfinishedFrom(written))
}

function putReference(draft: Draft, known: Written): void {
  const target = unfinishedFrom(known)
  const classFrame = draft.classFrames.at(-1)
  if (target !== undefined && classFrame !== undefined && target.depth <= classFrame)
    refuse(draft, leadsBackThrough(draft.frames[classFrame]))
  const around = draft.frames.at(-1)
  if (around !== undefined) noteLead(around.written, target)
  if (known.id === undefined) {
    known.id = draft.shared.length
    draft.shared.push(known)
  }
  draft.parts.push(`{"$":["Ref",${known.id}]}`)
  draft.isTagged = true
}

/** The outermost unfinished object that is, or can be reached from, this one. */
function unfinishedFrom(from: Written): Written | undefined {
  const finished: Written[] = []
  let target: Written | undefined = from
  while (target !== undefined && target.end !== undefined) {
    finished.push(target)
    target = target.leadsTo
  }
  // Path compression: without it long lists would take quadratic time.
  for (const written of finished) written.leadsTo = target
  return target
}

/** Records that `target` can be reached from something in `from`. */
function noteLead(from: Written, target: Written | undefined): void {
  if (target === undefined || target.depth >= from.depth) return
  if (from.leadsTo === undefined || target.depth < from.leadsTo.depth) from.leadsTo = target
}

function markShared({ shared, parts }: Draft): void {
  for (const { start, end, id } of shared) {
    if (end === undefined) continue
    parts[start] = `{"$":["Def",${id},${parts[start]}`
    parts[end] = `${parts[end]}]}`
  }
}

function refuse(draft: Draft, refusal: Refusal): never {
  const inside = draft.frames.flatMap(({ shape, next }) => shape.slots[next - 1]?.steps ?? [])
  throw unstorable([...(draft.options.path ?? []), ...inside], refusal)
}

function leadsBackThrough(frame: Frame | undefined): Refusal {
  return {
    reason: `refers back to itself through an instance of ${frame?.shape.ofClass}, a registered class`,
    hint: 'Leave the back reference out of what toValue returns, and set it after the state is read.',
  }
}
