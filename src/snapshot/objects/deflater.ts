// Compresses many small objects. `deflateSync` sets up a compressor for each, which costs as much as
// compressing a small file and leaves a heap of garbage; this one is set up once and reset. Node offers that
// only through the handle behind its stream (docs/decisions/0011-one-compressor.md), so the handle is tried
// first, and `deflateSync` does the work wherever the handle does not behave as known.
import { constants, createDeflate, deflateSync, inflateSync } from 'node:zlib'

/** What is used of a compressor's handle: writes [room left, input left] into the state it was made with. */
type Handle = {
  writeSync(
    flush: number,
    input: Uint8Array,
    inputAt: number,
    inputBytes: number,
    output: Uint8Array,
    outputAt: number,
    outputBytes: number,
  ): void
  reset(): void
}
type Compressor = { readonly handle: Handle; readonly state: Uint32Array }

const OUTPUT_BYTES = 256 << 10
const SAMPLES = ['a sample, a second sample, and a third one '.repeat(9), 'another', ''].map(
  (text) => Buffer.from(text),
)

export class Deflater {
  readonly #level: number
  readonly #output = Buffer.allocUnsafe(OUTPUT_BYTES)
  readonly #compressor: Compressor | undefined

  constructor(level: number) {
    this.#level = level
    const compressor = compressorOf(createDeflate({ level }))
    if (compressor !== undefined && this.#isTrue(compressor)) this.#compressor = compressor
  }

  /** A zlib stream; valid until the next call. */
  deflate(content: Uint8Array): Uint8Array {
    const deflated =
      this.#compressor === undefined ? undefined : this.#reuse(this.#compressor, content)
    return deflated ?? deflateSync(content, { level: this.#level })
  }

  /** Undefined if the output does not fit. */
  #reuse({ handle, state }: Compressor, content: Uint8Array): Uint8Array | undefined {
    const { Z_FINISH } = constants
    handle.reset()
    handle.writeSync(Z_FINISH, content, 0, content.length, this.#output, 0, OUTPUT_BYTES)
    const [roomLeft = 0, inputLeft = 0] = state
    if (inputLeft > 0 || roomLeft === 0) return undefined
    return this.#output.subarray(0, OUTPUT_BYTES - roomLeft)
  }

  #isTrue(compressor: Compressor): boolean {
    return SAMPLES.every((sample) => {
      const deflated = this.#reuse(compressor, sample)
      return deflated !== undefined && inflateSync(deflated).equals(sample)
    })
  }
}

function compressorOf(stream: object): Compressor | undefined {
  if (!('_handle' in stream) || !('_writeState' in stream)) return undefined
  const { _handle: handle, _writeState: state } = stream
  if (!(state instanceof Uint32Array) || typeof handle !== 'object' || handle === null)
    return undefined
  if (!('writeSync' in handle) || !('reset' in handle)) return undefined
  return { handle: handle as Handle, state }
}
