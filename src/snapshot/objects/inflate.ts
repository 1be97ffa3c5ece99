// Expands a zlib stream of known size that other bytes may follow, as in a pack.
import { inflateSync } from 'node:zlib'
import { isError } from '../../model/index.js'

/** `length`: how many bytes of the input the stream took. */
export type Inflated = { readonly content: Buffer; readonly length: number }

/** Undefined if the stream that `input` begins with is cut, damaged or does not hold exactly `size` bytes. */
export function inflate(input: Uint8Array, size: number): Inflated | undefined {
  try {
    const options = { info: true, maxOutputLength: Math.max(size, 1) }
    const { buffer, engine } = inflateSync(input, options) as unknown as {
      readonly buffer: Buffer
      readonly engine: { readonly bytesWritten: number }
    }
    return buffer.length === size ? { content: buffer, length: engine.bytesWritten } : undefined
  } catch (error) {
    // zlib reports damage, and a content that is too long, as an error.
    if (isError(error)) return undefined
    throw error
  }
}
