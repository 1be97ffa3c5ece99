// The handle behind one of Node's zlib streams, which can be reset and used again
// (docs/decisions/0011-one-compressor.md).
export type ZlibHandle = {
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

/** A write leaves [room left, input left] in the state. */
export type ZlibEngine = { readonly handle: ZlibHandle; readonly state: Uint32Array }

/** Undefined where the stream is not built as known. */
export function engineOf(stream: object): ZlibEngine | undefined {
  if (!('_handle' in stream) || !('_writeState' in stream)) return undefined
  const { _handle: handle, _writeState: state } = stream
  if (!(state instanceof Uint32Array) || typeof handle !== 'object' || handle === null)
    return undefined
  if (!('writeSync' in handle) || !('reset' in handle) || !('onerror' in handle)) return undefined
  return { handle: handle as ZlibHandle, state }
}
