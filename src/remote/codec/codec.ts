// Turns values into the bytes that a driver stores, and back: JSON, compressed if it may be long, sealed if the remote has a key. What
// comes back was written by another host, so sizes are bounded and shapes checked; a failed check is STORE_DAMAGED.
import { deflateSync, inflateSync } from 'node:zlib'
import { hasCode, tryParseJson } from '../../base/index.js'
import { SavestateError } from '../../model/index.js'
import type { RemoteContext, RemoteKey } from './remote-key.js'

/** A segment, compressed. PostgreSQL stores up to 1 GB in a value, and handles a tenth of it well. */
export const MAX_BODY_BYTES = 64 << 20
/** A segment, decompressed: V8 makes strings up to four times as long. */
const MAX_TEXT_BYTES = 128 << 20
/** Segments that are read together, decompressed. A reader has all of them in memory. */
const MAX_LOG_TEXT_BYTES = 1 << 30

/** How much text may still be unpacked by one reader of a log. */
export class TextBudget {
  left: number

  constructor(bytes = MAX_LOG_TEXT_BYTES) {
    this.left = bytes
  }
}

type SealOptions = Parameters<RemoteKey['seal']>[2]

export class Codec {
  readonly remoteId: string
  readonly #key: RemoteKey | null
  readonly #label: string

  constructor(options: {
    readonly remoteId: string
    readonly key: RemoteKey | null
    readonly label: string
  }) {
    this.remoteId = options.remoteId
    this.#key = options.key
    this.#label = options.label
  }

  seal(bytes: Uint8Array, context: RemoteContext, options?: SealOptions): Uint8Array {
    return this.#key === null ? bytes : this.#key.seal(bytes, [this.remoteId, ...context], options)
  }

  open(bytes: Uint8Array, context: RemoteContext): Uint8Array {
    if (this.#key === null) return bytes
    const opened = this.#key.open(bytes, [this.remoteId, ...context])
    if (opened === undefined)
      throw this.damaged(`${describe(context)} was not sealed for its place`)
    return opened
  }

  /** The text itself in a plain remote; a keyed hash in a sealed one. */
  nameOf(text: string, purpose: 'agent' | 'tree'): string {
    return this.#key === null ? text : this.#key.deriveName(text, [this.remoteId, purpose])
  }

  encodeJson(value: unknown, context: RemoteContext, options?: SealOptions): Uint8Array {
    return this.seal(Buffer.from(JSON.stringify(value), 'utf8'), context, options)
  }

  decodeJson(bytes: Uint8Array, context: RemoteContext): unknown {
    return this.#parse(this.open(bytes, context), context)
  }

  /** For segments, which may be long. */
  compress(value: unknown, context: RemoteContext): Uint8Array {
    const text = Buffer.from(JSON.stringify(value), 'utf8')
    if (text.length > MAX_TEXT_BYTES) throw tooLarge(text)
    const body = this.seal(deflateSync(text), context)
    if (body.length > MAX_BODY_BYTES) throw tooLarge(text)
    return body
  }

  decompress(body: Uint8Array, context: RemoteContext, budget: TextBudget): unknown {
    if (body.length > MAX_BODY_BYTES) throw this.damaged(`${describe(context)} is too large`)
    const deflated = this.open(body, context)
    const text = this.#inflate(deflated, context)
    budget.left -= text.length
    if (budget.left < 0) throw this.damaged(`the log up to ${describe(context)} is too large`)
    return this.#parse(text, context)
  }

  damaged(claim: string): SavestateError {
    return new SavestateError(
      'STORE_DAMAGED',
      `Data of the remote ${this.#label} is damaged: ${claim}`,
      {
        hint: 'Run `savestate verify --remote`.',
      },
    )
  }

  #inflate(deflated: Uint8Array, context: RemoteContext): Buffer {
    try {
      return inflateSync(deflated, { maxOutputLength: MAX_TEXT_BYTES })
    } catch (error) {
      const isTooLarge = hasCode(error, 'ERR_BUFFER_TOO_LARGE')
      if (!isTooLarge && !hasCode(error, 'Z_DATA_ERROR', 'Z_BUF_ERROR', 'Z_NEED_DICT')) throw error
      throw this.damaged(
        `${describe(context)} ${isTooLarge ? 'is too large' : 'is not compressed'}`,
      )
    }
  }

  #parse(bytes: Uint8Array, context: RemoteContext): unknown {
    const value = tryParseJson(Buffer.from(bytes).toString('utf8'))
    if (value === undefined) throw this.damaged(`${describe(context)} is not JSON`)
    return value
  }
}

function describe(context: RemoteContext): string {
  return context.filter((part) => part !== null).join(' ')
}

function tooLarge(text: Uint8Array): SavestateError {
  return new SavestateError('BAD_INPUT', `The change is too large to be shared: ${size(text)}`, {
    hint: `A remote takes ${size(MAX_TEXT_BYTES)} in one piece, and ${size(MAX_BODY_BYTES)} compressed.`,
  })
}

function size(of: Uint8Array | number): string {
  return `${Math.ceil((typeof of === 'number' ? of : of.length) / (1 << 20))} MB`
}
