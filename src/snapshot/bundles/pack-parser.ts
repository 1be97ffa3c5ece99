// Cuts the bytes of a pack into objects. Objects of moderate size come whole; larger blobs come in pieces.
import { SavestateError } from '../../model/index.js'
import { decodeHead, HEAD_BYTES, PACK_END, PACK_START, type PackHead } from './envelope.js'
import { LOOSE_HEAD_BYTES } from './unpack-object.js'

/** Larger blobs are streamed. Trees, and the modes of a snapshot, are always smaller in practice. */
export const WHOLE_BYTES = 16 << 20

export type PackReceiver = {
  /** The zlib stream of an object of at most WHOLE_BYTES. */
  readonly whole: (head: PackHead, zlib: Buffer) => void
  readonly startLarge: (head: PackHead) => LargeReceiver
}

/** Gets the zlib stream of one blob. */
export type LargeReceiver = {
  readonly add: (bytes: Buffer) => Promise<void>
  readonly end: () => Promise<void>
}

type LargeObject = { readonly receiver: LargeReceiver; left: number }

const NONE = Buffer.alloc(0)

export class PackParser {
  readonly #receiver: PackReceiver
  readonly #maxBlobBytes: number
  #rest: Buffer = NONE
  #isStarted = false
  #hasEnded = false
  #large: LargeObject | undefined

  constructor(receiver: PackReceiver, { maxBlobBytes }: { readonly maxBlobBytes: number }) {
    this.#receiver = receiver
    this.#maxBlobBytes = maxBlobBytes
  }

  async add(bytes: Uint8Array): Promise<void> {
    this.#rest = Buffer.concat([this.#rest, bytes])
    while (this.#rest.length > 0 && (await this.#step()));
  }

  /** Throws unless the pack is complete. The next `add` begins another one. */
  end(): void {
    if (!this.#hasEnded) throw badPack('it is truncated')
    this.#isStarted = false
    this.#hasEnded = false
  }

  /** Returns false if it needs more bytes. */
  async #step(): Promise<boolean> {
    if (this.#hasEnded) throw badPack('it has bytes after its end')
    if (this.#large !== undefined) return this.#continueLarge(this.#large)
    if (!this.#isStarted) {
      const start = this.#take(PACK_START.length)
      if (start?.equals(PACK_START) === false) throw badPack('it has an unknown format')
      this.#isStarted = start !== undefined
      return this.#isStarted
    }
    if (this.#rest[0] === PACK_END[0]) {
      this.#hasEnded = true
      return this.#take(PACK_END.length) !== undefined
    }
    if (this.#rest.length < HEAD_BYTES) return false
    const head = decodeHead(this.#rest)
    if (head === undefined) throw badPack('it has an object of an unknown form')
    this.#refuseSize(head)
    if (head.size > WHOLE_BYTES) {
      this.#take(HEAD_BYTES)
      this.#large = { receiver: this.#receiver.startLarge(head), left: head.length }
      return true
    }
    const object = this.#take(HEAD_BYTES + head.length)
    if (object === undefined) return false
    this.#receiver.whole(head, object.subarray(HEAD_BYTES))
    return true
  }

  async #continueLarge(large: LargeObject): Promise<boolean> {
    const part = this.#take(Math.min(large.left, this.#rest.length)) ?? NONE
    await large.receiver.add(part)
    large.left -= part.length
    if (large.left === 0) {
      await large.receiver.end()
      this.#large = undefined
    }
    return true
  }

  #refuseSize({ type, id, size, length }: PackHead): void {
    if (size > (type === 'tree' ? WHOLE_BYTES : this.#maxBlobBytes))
      throw badPack(`the ${type} ${id} is too large`, {
        hint: 'If you trust its author, raise `maxFileMb` in the settings.',
      })
    // Incompressible content grows by a few bytes per block.
    if (length > size + (size >>> 8) + 128 + LOOSE_HEAD_BYTES)
      throw badPack(`the ${type} ${id} takes more bytes than its content`)
  }

  #take(length: number): Buffer | undefined {
    if (this.#rest.length < length) return undefined
    const taken = this.#rest.subarray(0, length)
    this.#rest = this.#rest.subarray(length)
    return taken
  }
}

export const REJECTED = 'Files of the remote were rejected: '

export function badPack(what: string, options: { readonly hint?: string } = {}): SavestateError {
  return new SavestateError('BAD_INPUT', `${REJECTED}${what}`, options)
}
