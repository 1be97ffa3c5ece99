// The bytes of buffers and views over ordinary memory. Shared or resizable memory is refused: a copy would behave differently.
import { isDeepStrictEqual, types } from 'node:util'
import { type Refusal, refuseMemory, refuseObject } from './refusal.js'

/** The bytes of a buffer or view, not copied. */
export function bytesOf(object: object): Buffer | Refusal {
  const view = ArrayBuffer.isView(object) ? object : undefined
  const memory: unknown = view === undefined ? object : view.buffer
  if (view !== undefined && types.isSharedArrayBuffer(memory))
    return refuseMemory('is shared between threads')
  if (!types.isArrayBuffer(memory)) return refuseObject(object)
  if ('resizable' in memory && memory.resizable === true) return refuseMemory('can be resized')
  if (isDetached(memory)) return refuseMemory('was given away to another thread')
  return Buffer.from(memory, view?.byteOffset ?? 0, view?.byteLength ?? memory.byteLength)
}

/** The name of an extra property, if there is one. */
export function extraOf(object: object): string | undefined {
  // Object.keys would create a string per index, which takes seconds for a few megabytes. This comparison is native.
  if (types.isTypedArray(object) && isDeepStrictEqual(object, object.subarray())) return undefined
  return Object.keys(object).findLast((key) => !/^\d+$/.test(key))
}

function isDetached(memory: ArrayBuffer): boolean {
  if (memory.byteLength > 0) return false
  try {
    return new Uint8Array(memory).length > 0
  } catch (error) {
    if (error instanceof TypeError) return true
    throw error
  }
}
