// Packs on the caller's thread. They go to and from the capture thread in chunks: a snapshot may be larger than the memory.
import { type ObjectId, PACK_CHUNK_BYTES } from '../../model/index.js'
import type { ImportTarget, PackCalls } from './pack-calls.js'

/** `base` is a snapshot that the receiver has; null for a full pack. */
export type PackContent = { readonly tree: ObjectId; readonly base: ObjectId | null }

export type ExportedPack = {
  /** The whole pack if it has at most INLINE_PACK_BYTES; otherwise undefined, and `chunks` returns it. */
  readonly bytes: Uint8Array | undefined
  /** Exact if there are `bytes`; otherwise an estimate. */
  readonly sizeBytes: number
  /** Chunks of PACK_CHUNK_BYTES; the last may be shorter. To be iterated once; leaving the loop ends the export. */
  readonly chunks: AsyncIterable<Uint8Array>
}

/** A `RemotePack` and an `ExportedPack` have this form. */
export type PackBytes = { readonly chunks: Iterable<Uint8Array> | AsyncIterable<Uint8Array> }

export type CallPacks = <N extends keyof PackCalls>(
  name: N,
  argument: Parameters<PackCalls[N]>[0],
) => Promise<Awaited<ReturnType<PackCalls[N]>>>

export async function exportPack(call: CallPacks, content: PackContent): Promise<ExportedPack> {
  const { id, bytes, sizeBytes } = await call('startExport', content)
  const chunks = bytes === undefined ? readExport(call, id) : asChunks(bytes)
  return { bytes, sizeBytes, chunks }
}

async function* readExport(call: CallPacks, id: number): AsyncGenerator<Uint8Array> {
  try {
    for (;;) {
      const chunk = await call('readExport', id)
      if (chunk === undefined) return
      yield chunk
    }
  } finally {
    await call('endExport', id)
  }
}

async function* asChunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes
}

export async function importPacks(
  call: CallPacks,
  {
    tree,
    packs,
    ...target
  }: ImportTarget & {
    readonly tree: ObjectId
    readonly packs: Iterable<PackBytes> | AsyncIterable<PackBytes>
  },
): Promise<void> {
  const id = await call('startImport', target)
  try {
    for await (const { chunks } of packs) {
      for await (const part of chunks)
        for (let at = 0; at < part.length; at += PACK_CHUNK_BYTES)
          // A copy: a message to a thread takes along the whole buffer behind a view.
          await call('addToImport', { id, bytes: part.slice(at, at + PACK_CHUNK_BYTES) })
      await call('endPack', id)
    }
    await call('finishImport', { id, tree })
  } catch (error) {
    await call('abandonImport', id)
    throw error
  }
}
