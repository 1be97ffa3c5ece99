import { inflateSync } from 'node:zlib'
import { hasCode, isError } from '../../model/index.js'
import { objectHeader } from '../objects/object-id.js'
import type { PackedForm, PackedType } from './envelope.js'

/** The longest header of a loose object. */
export const LOOSE_HEAD_BYTES = 32
const NUL = 0

export type Unpack = {
  readonly type: PackedType
  readonly form: PackedForm
  readonly maxBytes: number
}

/** The content; undefined if the stream is damaged, does not end where its bytes end, or has more than `maxBytes`. */
export function unpackObject(
  zlib: Uint8Array,
  { type, form, maxBytes }: Unpack,
): Buffer | undefined {
  const inflated = inflateAll(zlib, maxBytes + LOOSE_HEAD_BYTES)
  const content = inflated && form === 'loose' ? withoutHead(inflated, type) : inflated
  return content !== undefined && content.length <= maxBytes ? content : undefined
}

/** Removes the header of a loose object; undefined if it is not that of this type and size. */
function withoutHead(inflated: Buffer, type: PackedType): Buffer | undefined {
  const content = inflated.subarray(inflated.indexOf(NUL) + 1)
  const header = objectHeader(type, content.length)
  return inflated.toString('latin1', 0, header.length) === header ? content : undefined
}

/** The types of node do not know the result of `info`. */
type Inflated = { readonly buffer: Buffer; readonly engine: { readonly bytesWritten: number } }

function inflateAll(zlib: Uint8Array, maxOutputLength: number): Buffer | undefined {
  try {
    const result: unknown = inflateSync(zlib, { maxOutputLength, info: true })
    const { buffer, engine } = result as Inflated
    return engine.bytesWritten === zlib.length ? buffer : undefined
  } catch (error) {
    // The content is longer than allowed.
    if (isZlibError(error) || hasCode(error, 'ERR_BUFFER_TOO_LARGE')) return undefined
    throw error
  }
}

/** The stream is damaged or truncated. */
export function isZlibError(error: unknown): boolean {
  return isError(error) && 'code' in error && /^Z_[A-Z]+_ERROR$/.test(String(error.code))
}
