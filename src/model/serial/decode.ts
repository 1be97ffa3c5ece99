// From text back to the value. JSON.parse makes all that is JSON; a walk without recursion then replaces
// the tags in place. An object is there before what is in it, so that cycles close. An instance of a
// registered class comes after what is in it, because it is made from that.
import type { ValuePath } from './path.js'
import type { ClassRegistry } from './registry.js'
import { define, type Piece, pieceOf } from './revive.js'
import { malformed } from './unreadable.js'

/** A far reference still to be filled in: the caller finds what stands at `path` in the whole state. */
export type Hole = {
  readonly path: ValuePath
  /** Puts it in its place, in order. Until then an empty object stands there. */
  readonly fill: (value: object) => void
}

export type DecodedValue = {
  /** Complete when all holes are filled. Read it then, not before: it can be a hole as a whole. */
  readonly value: unknown
  readonly holes: readonly Hole[]
}

export type DecodeOptions = {
  /** What `encodeValue` said of this text. */
  readonly plain?: boolean
  readonly classes?: ClassRegistry
}

/** Throws STATE_UNREADABLE for a text that is damaged, newer than this program, or of an unknown class. */
export function decodeValue(text: string, options: DecodeOptions = {}): DecodedValue {
  const json = parseJson(text)
  if (options.plain === true) return { value: json, holes: [] }
  const root = [json]
  const reading: Reading = {
    classes: options.classes,
    frames: [frameOf({ type: 'open', value: root, slots: root, first: 0 })],
    defined: new Map(),
    holes: [],
    lateFrames: 0,
  }
  for (let frame = reading.frames.at(-1); frame !== undefined; frame = reading.frames.at(-1)) {
    if (frame.next < frame.end) readSlot(reading, frame)
    else close(reading, frame)
  }
  return {
    get value() {
      return root[0]
    },
    holes: reading.holes,
  }
}

type Opened = Extract<Piece, { type: 'open' | 'late' }>

type Frame = {
  readonly piece: Opened
  /** Undefined for an array, whose keys are its indexes. */
  readonly keys: readonly string[] | undefined
  readonly end: number
  next: number
  /** Its number if there are references to it. */
  readonly id: number | undefined
  /** Holes among its slots that are not filled yet. */
  holes: number
}

type Reading = {
  readonly classes: ClassRegistry | undefined
  /** The objects around the place where reading goes on, outermost first. */
  readonly frames: Frame[]
  readonly defined: Map<number, unknown>
  readonly holes: Hole[]
  /** How many of the frames are of instances. */
  lateFrames: number
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
  if (Array.isArray(slots))
    return { piece, keys: undefined, end: slots.length, next: first, id, holes: 0 }
  const keys = Object.keys(slots)
  return { piece, keys, end: keys.length, next: first, id, holes: 0 }
}

function readSlot(reading: Reading, frame: Frame): void {
  const place = frame.next
  frame.next += 1
  const json = slotAt(frame, place)
  if (typeof json !== 'object' || json === null) return
  const piece = pieceOf(json, reading.classes)
  switch (piece.type) {
    case 'reference':
      if (!reading.defined.has(piece.id)) throw malformed('a reference to nothing')
      setSlot(frame, place, reading.defined.get(piece.id))
      return
    case 'far':
      leaveHole(reading, { frame, place, path: piece.path })
      return
    case 'definition':
      begin(reading, { frame, place, piece: pieceOf(piece.inner, reading.classes), id: piece.id })
      return
    default:
      begin(reading, { frame, place, piece, id: undefined })
  }
}

type Place = { readonly frame: Frame; readonly place: number }

function begin(
  reading: Reading,
  { frame, place, piece, id }: Place & { readonly piece: Piece; readonly id: number | undefined },
): void {
  switch (piece.type) {
    case 'complete':
      setSlot(frame, place, piece.value)
      break
    case 'open':
      setSlot(frame, place, piece.value)
      reading.frames.push(frameOf(piece, id))
      break
    case 'late':
      reading.lateFrames += 1
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
  reading.lateFrames -= 1
  const value = piece.make()
  const around = reading.frames.at(-1)
  if (around !== undefined) setSlot(around, around.next - 1, value)
  if (id !== undefined) reading.defined.set(id, value)
}

function leaveHole(
  reading: Reading,
  { frame, place, path }: Place & { readonly path: ValuePath },
): void {
  // The instance is made at once, from what would not be complete.
  if (reading.lateFrames > 0) throw malformed('a far reference inside an instance of a class')
  // One of its own for each hole: as a key of a Map it holds the place of the entry.
  const placeholder = {}
  setSlot(frame, place, placeholder)
  frame.holes += 1
  reading.holes.push({
    path,
    fill: (value) => {
      if (slotAt(frame, place) === placeholder) frame.holes -= 1
      setSlot(frame, place, value)
      if (frame.holes === 0 && frame.piece.type === 'open') frame.piece.finish?.()
    },
  })
}

function slotAt({ piece, keys }: Frame, place: number): unknown {
  return Array.isArray(piece.slots) ? piece.slots[place] : piece.slots[keys?.[place] ?? '']
}

function setSlot({ piece, keys }: Frame, place: number, value: unknown): void {
  if (Array.isArray(piece.slots)) piece.slots[place] = value
  else define(piece.slots, keys?.[place] ?? '', { value, enumerable: true })
}
