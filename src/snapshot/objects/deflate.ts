// Compresses many small objects with one zlib handle that is reset before each. `deflateSync` sets up a compressor for
// each call, which costs more than compressing a small file (docs/decisions/0011-one-compressor.md).
import { constants, createDeflate, deflateSync, inflateSync } from 'node:zlib'

/** Level 6 takes twice the time for packs that are 4 % smaller: `disk-100-saves` in bench/. */
const LEVEL = 1
/** `deflateSync` compresses larger contents: its setup no longer matters there. */
const MAX_BYTES = 256 << 10
/** Incompressible content grows by a few bytes per block. */
const OUTPUT_BYTES = MAX_BYTES + (MAX_BYTES >> 8) + 128

const SAMPLES = ['a sample, a second sample, and a third one '.repeat(9), 'another', ''].map(
  (text) => Buffer.from(text),
)

/** The handle behind a stream of node:zlib. Node does not document it. */
type Handle = {
  onerror: () => void
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

/** `state` after a write: the space left in the output, and the input left. */
type Compressor = { readonly handle: Handle; readonly state: Uint32Array; readonly output: Buffer }

let ofThisThread: { readonly compressor: Compressor | undefined } | undefined

/** A zlib stream of the content; valid until the next call. */
export function deflate(content: Uint8Array): Uint8Array {
  ofThisThread ??= { compressor: startCompressor(createDeflate({ level: LEVEL })) }
  return deflateWith(ofThisThread.compressor, content)
}

export function deflateWith(compressor: Compressor | undefined, content: Uint8Array): Uint8Array {
  const stream =
    compressor === undefined || content.length > MAX_BYTES ? undefined : reuse(compressor, content)
  return stream ?? deflateSync(content, { level: LEVEL })
}

/** Undefined unless the stream has the expected handle and the handle compresses samples correctly. */
export function startCompressor(stream: object): Compressor | undefined {
  if (!('_handle' in stream) || !('_writeState' in stream)) return undefined
  const { _handle: handle, _writeState: state } = stream
  if (!(state instanceof Uint32Array) || typeof handle !== 'object' || handle === null)
    return undefined
  if (!('writeSync' in handle) || !('reset' in handle) || !('onerror' in handle)) return undefined
  const output = Buffer.allocUnsafeSlow(OUTPUT_BYTES)
  const compressor = { handle: handle as Handle, state, output }
  const isRight = (sample: Buffer) => {
    const compressed = reuse(compressor, sample)
    return compressed !== undefined && inflateSync(compressed).equals(sample)
  }
  return SAMPLES.every(isRight) ? compressor : undefined
}

function reuse(compressor: Compressor, content: Uint8Array): Uint8Array | undefined {
  const { handle, state, output } = compressor
  let hasFailed = false
  handle.onerror = () => {
    hasFailed = true
  }
  handle.reset()
  handle.writeSync(constants.Z_FINISH, content, 0, content.length, output, 0, OUTPUT_BYTES)
  const [roomLeft = 0, inputLeft = 0] = state
  // A stream that fills the output may not have ended.
  if (hasFailed || inputLeft > 0 || roomLeft === 0) return undefined
  return output.subarray(0, OUTPUT_BYTES - roomLeft)
}
