// Expands many small objects: by the engine (docs/decisions/0027-own-inflater.md), and what is too large for it, or where there
// is none, by one handle of zlib that is set up once (0011-one-compressor.md). A stream that does not end, holds more or less
// than it should or is damaged gives nothing.
import { constants, createInflate, deflateSync, inflateSync } from 'node:zlib'
import { contentEngine, type Inflated } from './content-engine.js'
import { HEADER_ROOM } from './object-id.js'
import { engineOf, type ZlibEngine } from './zlib-engine.js'
import { isError } from '../../model/index.js'

const SAMPLES = ['a sample, a second sample, and a third one '.repeat(9), 'another', ''].map(
  (text) => Buffer.from(text),
)

/** More is asked for when it is needed. */
const FIRST_BYTES = HEADER_ROOM + (256 << 10)

export class Inflater {
  readonly #engine: ReturnType<typeof contentEngine>
  /** The content comes after room for the head that it is hashed with. */
  #output = Buffer.alloc(0)
  /** It is asked for when it is needed: few objects are so large, and it takes time and memory. */
  #zlib: { readonly engine: ZlibEngine | undefined } | undefined

  constructor(engineOfThread: typeof contentEngine = contentEngine) {
    this.#engine = engineOfThread()
  }

  /**
   * The zlib stream that `input` begins with, which must hold exactly `size` bytes. Valid until something else is expanded
   * in this thread, and with HEADER_ROOM before it.
   */
  inflate(input: Uint8Array, size: number): Inflated | undefined {
    const engine = this.#engine
    if (engine !== undefined && size <= engine.mostBytes) {
      const inflated = engine.inflate(input, size)
      // A stream may go on for longer than there is room, whatever it holds.
      if (inflated !== undefined || input.length <= engine.mostStreamBytes) return inflated
    }
    this.#zlib ??= { engine: this.#startZlib() }
    return this.#zlib.engine === undefined
      ? inflateOnce(input, size)
      : this.#reuse(this.#zlib.engine, input, size)
  }

  #reuse(engine: ZlibEngine, input: Uint8Array, size: number): Inflated | undefined {
    const { handle, state } = engine
    // One byte of room is left over: only then does the handle say whether the stream has ended.
    const room = size + 1
    const end = HEADER_ROOM + room
    if (this.#output.length < end) this.#output = Buffer.allocUnsafeSlow(Math.max(end, FIRST_BYTES))
    let hasFailed = false
    handle.onerror = () => {
      hasFailed = true
    }
    handle.reset()
    handle.writeSync(constants.Z_FINISH, input, 0, input.length, this.#output, HEADER_ROOM, room)
    const [roomLeft = 0, inputLeft = 0] = state
    if (hasFailed || roomLeft !== 1) return undefined
    const content = this.#output.subarray(HEADER_ROOM, HEADER_ROOM + size)
    return { content, length: input.length - inputLeft }
  }

  #startZlib(): ZlibEngine | undefined {
    const engine = engineOf(createInflate())
    return engine !== undefined && this.#isTrue(engine) ? engine : undefined
  }

  #isTrue(engine: ZlibEngine): boolean {
    const isExact = SAMPLES.every((sample) => {
      const stream = deflateSync(sample)
      const input = Buffer.concat([stream, Buffer.from('more')])
      const inflated = this.#reuse(engine, input, sample.length)
      return inflated?.content.equals(sample) === true && inflated.length === stream.length
    })
    const cut = deflateSync(SAMPLES[0] ?? '').subarray(0, -1)
    return isExact && this.#reuse(engine, cut, SAMPLES[0]?.length ?? 0) === undefined
  }
}

function inflateOnce(input: Uint8Array, size: number): Inflated | undefined {
  try {
    const { buffer, engine } = inflateSync(input, {
      info: true,
      maxOutputLength: Math.max(size, 1),
    }) as unknown as {
      readonly buffer: Buffer
      readonly engine: { readonly bytesWritten: number }
    }
    if (buffer.length !== size) return undefined
    const content = Buffer.concat([Buffer.alloc(HEADER_ROOM), buffer]).subarray(HEADER_ROOM)
    return { content, length: engine.bytesWritten }
  } catch (error) {
    if (isError(error)) return undefined
    throw error
  }
}
