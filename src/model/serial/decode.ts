// Decodes text into a value. JSON.parse handles plain JSON; an iterative walk then replaces the tags in place. Containers exist
// before their contents, so that cycles can close. Instances of registered classes are created after their contents.
import type { ClassRegistry } from './registry.js'
import { define, type Piece, pieceOf } from './revive.js'
import { malformed } from './unreadable.js'

export type DecodeOptions = {
  /** The `plain` that `encodeValue` returned for this text. */
  readonly plain?: boolean
  readonly classes?: ClassRegistry | undefined
}

/** Throws STATE_UNREADABLE if the text is damaged, written by a newer version, or has an instance of an unknown class. */
export function decodeValue(text: string, options: DecodeOptions = {}): unknown {
  const json = parseJson(text)
  if (options.plain === true) return json
  const root = [json]
  const reading: Reading = {
    classes: options.classes,
    frames: [frameOf({ type: 'open', value: root, slots: root, first: 0 })],
    defined: new Map(),
  }
  for (let frame = reading.frames.at(-1); frame !== undefined; frame = reading.frames.at(-1)) {
    if (frame.next < frame.end) readSlot(reading, frame)
    else close(reading, frame)
  }
  return root[0]
}

type Opened = Extract<Piece, { type: 'open' | 'late' }>

type Frame = {
  readonly piece: Opened
  /** Undefined for an array, whose keys are its indexes. */
  readonly keys: readonly string[] | undefined
  readonly end: number
  next: number
  /** Its number, if other parts of the text refer to it. */
  readonly id: number | undefined
}

type Reading = {
  readonly classes: ClassRegistry | undefined
  /** The objects around the current position, outermost first. */
  readonly frames: Frame[]
  readonly defined: Map<number, unknown>
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw malformed('text that is not JSON', cause)
  }
}

function frameOf(piece: Opened, id?: number): Frame {
  const { slots, first } = piece
  if (Array.isArray(slots)) return { piece, keys: undefined, end: slots.length, next: first, id }
  const keys = Object.keys(slots)
  return { piece, keys, end: keys.length, next: first, id }
}

function readSlot(reading: Reading, frame: Frame): void {
  const index = frame.next
  frame.next += 1
  const json = slotAt(frame, index)
  if (typeof json !== 'object' || json === null) return
  const piece = pieceOf(json, reading.classes)
  switch (piece.type) {
    case 'reference':
      if (!reading.defined.has(piece.id)) throw malformed('a reference to nothing')
      setSlot(frame, index, reading.defined.get(piece.id))
      return
    case 'definition':
      begin(reading, { frame, index, piece: pieceOf(piece.inner, reading.classes), id: piece.id })
      return
    default:
      begin(reading, { frame, index, piece, id: undefined })
  }
}

type Beginning = { frame: Frame; index: number; piece: Piece; id: number | undefined }

function begin(reading: Reading, { frame, index, piece, id }: Beginning): void {
  switch (piece.type) {
    case 'complete':
      setSlot(frame, index, piece.value)
      break
    case 'open':
      setSlot(frame, index, piece.value)
      reading.frames.push(frameOf(piece, id))
      break
    case 'late':
      reading.frames.push(frameOf(piece, id))
      return
    default:
      throw malformed('a reference where an object is defined')
  }
  if (id !== undefined) reading.defined.set(id, piece.value)
}

function close(reading: Reading, { piece, id }: Frame): void {
  reading.frames.pop()
  if (piece.type === 'open') {
    piece.finish?.()
    return
  }
  const value = piece.make()
  const around = reading.frames.at(-1)
  if (around !== undefined) setSlot(around, around.next - 1, value)
  if (id !== undefined) reading.defined.set(id, value)
}

function slotAt({ piece, keys }: Frame, index: number): unknown {
  return Array.isArray(piece.slots) ? piece.slots[index] : piece.slots[keys?.[index] ?? '']
}

function setSlot({ piece, keys }: Frame, index: number, value: unknown): void {
  if (Array.isArray(piece.slots)) piece.slots[index] = value
  else define(piece.slots, keys?.[index] ?? '', { value, enumerable: true })
}
