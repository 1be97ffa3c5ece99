// Compresses many small objects. `deflateSync` sets up a compressor for each, which costs as much as
// compressing a small file and leaves a heap of garbage; this one is set up once and reset. Node offers that
// only through the handle behind its stream (docs/decisions/0011-one-compressor.md), so the handle is tried
// first, and `deflateSync` does the work wherever the handle does not behave as known.
import { constants, createDeflate, deflateSync, inflateSync } from 'node:zlib'
import { engineOf, type ZlibEngine } from './zlib-engine.js'

const OUTPUT_BYTES = 256 << 10
const SAMPLES = ['a sample, a second sample, and a third one '.repeat(9), 'another', ''].map(
  (text) => Buffer.from(text),
)

export class Deflater {
  readonly #level: number
  readonly #output = Buffer.allocUnsafe(OUTPUT_BYTES)
  readonly #compressor: ZlibEngine | undefined

  constructor(level: number) {
    this.#level = level
    const compressor = engineOf(createDeflate({ level }))
    if (compressor !== undefined && this.#isTrue(compressor)) this.#compressor = compressor
  }

  /** A zlib stream; valid until the next call. */
  deflate(content: Uint8Array): Uint8Array {
    const deflated =
      this.#compressor === undefined ? undefined : this.#reuse(this.#compressor, content)
    return deflated ?? deflateSync(content, { level: this.#level })
  }

  /** Undefined if the output does not fit. */
  #reuse({ handle, state }: ZlibEngine, content: Uint8Array): Uint8Array | undefined {
    const { Z_FINISH } = constants
    handle.reset()
    handle.writeSync(Z_FINISH, content, 0, content.length, this.#output, 0, OUTPUT_BYTES)
    const [roomLeft = 0, inputLeft = 0] = state
    if (inputLeft > 0 || roomLeft === 0) return undefined
    return this.#output.subarray(0, OUTPUT_BYTES - roomLeft)
  }

  #isTrue(compressor: ZlibEngine): boolean {
    return SAMPLES.every((sample) => {
      const deflated = this.#reuse(compressor, sample)
      return deflated !== undefined && inflateSync(deflated).equals(sample)
    })
  }
}
