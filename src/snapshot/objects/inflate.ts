// Decompresses a zlib stream of known size that may be followed by other bytes, as in a pack.
import { inflateSync } from 'node:zlib'
import { isError } from '../../model/index.js'

/** Undefined if the stream at the start of `input` is truncated, damaged, or not exactly `size` bytes long. */
export function inflate(input: Uint8Array, size: number): Buffer | undefined {
  try {
    const content = inflateSync(input, { maxOutputLength: Math.max(size, 1) })
    return content.length === size ? content : undefined
  } catch (error) {
    // zlib throws for damaged streams and for content that is too long.
    if (isError(error)) return undefined
    throw error
  }
}
