// Reads single objects out of a pack that may be damaged: what git refuses as a whole still holds most of them.
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import type { ObjectId } from '../../model/index.js'
import { inflate } from '../objects/inflate.js'
import { objectIdOf, type ObjectType } from '../objects/object-id.js'
import { applyDelta } from './delta.js'
import type { PackIndexFile } from './pack-index-file.js'

export type ObjectContent = { readonly type: ObjectType; readonly content: Buffer }

const HEADER_BYTES = 12
const TRAILER_BYTES = 20
/** The longest head of an entry: type and size, then the name of a base. */
const MAX_HEAD_BYTES = 10 + 20
const TYPES: readonly (ObjectType | undefined)[] = [undefined, 'commit', 'tree', 'blob']
const OFFSET_DELTA = 6
const NAME_DELTA = 7
/** Git makes chains of at most 4095, and by default of 50. */
const MAX_CHAIN = 4096
const WINDOW_BYTES = 64 << 10
/** Enough for the whole of most entries. */
const FIRST_READ_BYTES = 2 << 10

type Entry = {
  readonly kind: number
  readonly body: Buffer
  readonly base: number | ObjectId | undefined
  /** All of it, as it stands in the pack. */
  readonly bytes: Buffer
}

/** Valid until the next object is read. `entry`: as it stands in the pack, if no other object is needed to read it. */
export type PackedBlob = { readonly content: Buffer; readonly entry: Buffer | undefined }

/** Anything that makes an entry unreadable; the caller goes on with the next. */
class Unreadable extends Error {}

export class PackFile {
  readonly #fd: number
  readonly #end: number
  readonly #index: Pick<PackIndexFile, 'offsetOf'> | undefined
  readonly #maxBytes: number
  /** What was read last: the next object mostly stands right after the one before. */
  readonly #memory = Buffer.allocUnsafeSlow(WINDOW_BYTES)
  #window = this.#memory.subarray(0, 0)
  #windowAt = 0

  /** An object, or a delta on the way to it, of more than `maxBytes` is not read. */
  constructor(
    pack: string | number,
    index: Pick<PackIndexFile, 'offsetOf'> | undefined,
    { maxBytes = Infinity }: { readonly maxBytes?: number } = {},
  ) {
    this.#fd = typeof pack === 'number' ? pack : openSync(pack, 'r')
    this.#end = fstatSync(this.#fd).size
    this.#index = index
    this.#maxBytes = maxBytes
  }

  close(): void {
    closeSync(this.#fd)
  }

  /** Undefined if it is not there, or its content does not match its name. */
  read(id: ObjectId): ObjectContent | undefined {
    const offset = this.#index?.offsetOf(id)
    const found = offset === undefined ? undefined : this.#readable(() => this.#resolve(offset))
    return found !== undefined && objectIdOf(found.type, found.content) === id ? found : undefined
  }

  /** The same for a blob of which the size is known. */
  readBlob(id: ObjectId, size: number): PackedBlob | undefined {
    const offset = this.#index?.offsetOf(id)
    if (offset === undefined) return undefined
    return this.#readable(() => {
      const { kind, body, bytes } = this.#entryAt(offset, size)
      if (TYPES[kind] === 'blob') {
        const isIt = body.length === size && objectIdOf('blob', body) === id
        return isIt ? { content: body, entry: bytes } : undefined
      }
      const { type, content } = this.#resolve(offset)
      const isIt = type === 'blob' && content.length === size && objectIdOf(type, content) === id
      return isIt ? { content, entry: undefined } : undefined
    })
  }

  /** All that can be read one after the other, as far as that goes. For a pack without an index. */
  *inOrder(): Generator<ObjectContent & { readonly id: ObjectId; readonly offset: number }> {
    for (let at = HEADER_BYTES; at < this.#end - TRAILER_BYTES; ) {
      const offset = at
      const found = this.#readable(() => {
        const { bytes } = this.#entryAt(offset)
        return { end: offset + bytes.length, ...this.#resolve(offset) }
      })
      if (found === undefined) return
      at = found.end
      yield { id: objectIdOf(found.type, found.content), offset, ...found }
    }
  }

  #readable<T>(work: () => T): T | undefined {
    try {
      return work()
    } catch (error) {
      if (error instanceof Unreadable) return undefined
      throw error
    }
  }

  #resolve(offset: number): ObjectContent {
    const deltas: Buffer[] = []
    for (let at = offset; deltas.length < MAX_CHAIN; ) {
      const { kind, body, base } = this.#entryAt(at)
      const type = TYPES[kind]
      if (type !== undefined) {
        const content = deltas.reduceRight((whole, delta) => this.#applied(whole, delta), body)
        return { type, content }
      }
      deltas.push(body)
      const next = typeof base === 'string' ? this.#index?.offsetOf(base) : base
      if (next === undefined) throw new Unreadable()
      at = next
    }
    throw new Unreadable()
  }

  #entryAt(offset: number, expectedBytes = FIRST_READ_BYTES): Entry {
    if (offset < HEADER_BYTES || offset >= this.#end) throw new Unreadable()
    const head = this.#bytesAt(offset, mostBytesOf(expectedBytes))
    let place = 0
    const next = () => {
      const byte = head[place]
      if (byte === undefined) throw new Unreadable()
      place += 1
      return byte
    }
    let byte = next()
    const kind = (byte >> 4) & 7
    let size = byte & 15
    for (let unit = 16; byte >= 128; unit *= 128) {
      byte = next()
      size += (byte & 127) * unit
    }
    let base: Entry['base']
    if (kind === OFFSET_DELTA) {
      byte = next()
      let back = byte & 127
      while (byte >= 128) {
        byte = next()
        back = (back + 1) * 128 + (byte & 127)
      }
      base = offset - back
    } else if (kind === NAME_DELTA) {
      base = head.hexSlice(place, place + 20) as ObjectId
      place += 20
    }
    if (size > this.#maxBytes || size > this.#end * 1100) throw new Unreadable()
    const isWhole = head.length >= Math.min(mostBytesOf(size), this.#end - offset)
    const bytes = isWhole ? head : this.#bytesAt(offset, mostBytesOf(size))
    const inflated = inflate(bytes.subarray(place), size)
    if (inflated === undefined) throw new Unreadable()
    const end = place + inflated.length
    return { kind, body: inflated.content, base, bytes: bytes.subarray(0, end) }
  }

  #applied(base: Buffer, delta: Buffer): Buffer {
    const content = applyDelta(base, delta, this.#maxBytes)
    if (content === undefined) throw new Unreadable()
    return content
  }

  #bytesAt(offset: number, length: number): Buffer {
    const wanted = Math.max(0, Math.min(length, this.#end - offset))
    const from = offset - this.#windowAt
    if (from >= 0 && from + wanted <= this.#window.length)
      return this.#window.subarray(from, from + wanted)
    const whole = wanted > WINDOW_BYTES ? Buffer.allocUnsafe(wanted) : this.#memory
    this.#window = whole.subarray(0, readSync(this.#fd, whole, 0, whole.length, offset))
    this.#windowAt = offset
    return this.#window.subarray(0, wanted)
  }
}

/** What does not shrink grows by a few bytes for each block. */
function mostBytesOf(size: number): number {
  return MAX_HEAD_BYTES + size + (size >>> 8) + 128
}
