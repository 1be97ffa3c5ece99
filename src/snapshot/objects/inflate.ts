// Decompresses a zlib stream of known size that may be followed by other bytes, as in a pack.
import { inflateSync } from 'node:zlib'
import { isError } from '../../model/index.js'

/** `length`: how many input bytes the stream used. */
export type Inflated = { readonly content: Buffer; readonly length: number }

/** Undefined if the stream at the start of `input` is truncated, damaged, or not exactly `size` bytes long. */
export function inflate(input: Uint8Array, size: number): Inflated | undefined {
  try {
    const options = { info: true, maxOutputLength: Math.max(size, 1) }
    const { buffer, engine } = inflateSync(input, options) as unknown as {
      readonly buffer: Buffer
      readonly engine: { readonly bytesWritten: number }
    }
    return buffer.length === size ? { content: buffer, length: engine.bytesWritten } : undefined
  } catch (error) {
    // zlib throws for damaged streams and for content that is too long.
    if (isError(error)) return undefined
    throw error
  }
}
