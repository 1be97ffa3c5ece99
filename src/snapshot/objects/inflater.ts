// Expands many small objects by one handle that is set up once (docs/decisions/0011-one-compressor.md). A stream that does not
// end, holds more than it should or is damaged gives nothing.
import { constants, createInflate, deflateSync, inflateSync } from 'node:zlib'
import { HEADER_ROOM } from './object-id.js'
import { engineOf, type ZlibEngine } from './zlib-engine.js'
import { isError } from '../../model/index.js'

/** `length`: how many bytes of the input the stream took. */
export type Inflated = { readonly content: Buffer; readonly length: number }

const SAMPLES = ['a sample, a second sample, and a third one '.repeat(9), 'another', ''].map(
  (text) => Buffer.from(text),
)

export class Inflater {
  /** The content comes after room for the head that it is hashed with. */
  #output = Buffer.allocUnsafeSlow(HEADER_ROOM + (256 << 10))
  #engine: ZlibEngine | undefined

  constructor() {
    const engine = engineOf(createInflate())
    if (engine !== undefined && this.#isTrue(engine)) this.#engine = engine
  }

  /**
   * The zlib stream that `input` begins with, which must hold exactly `size` bytes. Valid until the next call,
   * and with HEADER_ROOM before it.
   */
  inflate(input: Uint8Array, size: number): Inflated | undefined {
    return this.#engine === undefined
      ? inflateOnce(input, size)
      : this.#reuse(this.#engine, input, size)
  }

  #reuse(engine: ZlibEngine, input: Uint8Array, size: number): Inflated | undefined {
    const { handle, state } = engine
    // One byte of room is left over: only then does the handle say whether the stream has ended.
    const room = size + 1
    const end = HEADER_ROOM + room
    if (this.#output.length < end) this.#output = Buffer.allocUnsafeSlow(end)
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
