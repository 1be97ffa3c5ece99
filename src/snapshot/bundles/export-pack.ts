// Writes a pack, object by object, as the reader asks for more. Each object is compared with its id first: a damaged one ends the
// export, so that nothing is shared that could not be restored.
import { createHash } from 'node:crypto'
import { closeSync, createReadStream, openSync, type ReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { createInflate } from 'node:zlib'
import { hasCode, type ObjectId, SavestateError } from '../../model/index.js'
import type { BlobReader } from '../git/blob-reader.js'
import { deflate } from '../objects/deflate.js'
import { objectHeader, objectIdOf } from '../objects/object-id.js'
import type { ObjectStore } from '../objects/object-store.js'
import { type RawObject, readAt } from '../objects/raw-objects.js'
import { STREAM_BYTES } from '../objects/stream-blob.js'
import { decodeTree } from '../objects/tree.js'
import { encodeHead, HEAD_BYTES, PACK_END, PACK_START } from './envelope.js'
import { type ListedObject, listNewObjects } from './list-objects.js'
import type { PackContent } from './transfer.js'
import { isZlibError, unpackObject } from './unpack-object.js'

export type StoreReader = { readonly store: ObjectStore; readonly blobs: BlobReader }

/** For an object that the store keeps as a delta: its own compressed size is unknown. */
const DELTA_OBJECT_BYTES = 2048

export async function listForPack(
  content: PackContent,
  { store, blobs }: StoreReader,
): Promise<readonly ListedObject[]> {
  store.refresh()
  return listNewObjects(content, async (id) => {
    const raw = copyWhole({ id, type: 'tree' }, store)
    return decodeTree(raw?.content ?? (await blobs.read(id)))
  })
}

/** How large a pack with these objects is, judged by what they take on disk. */
export function estimateBytes(objects: readonly ListedObject[], store: ObjectStore): number {
  const frame = PACK_START.length + PACK_END.length + objects.length * HEAD_BYTES
  const lengthOf = (id: ObjectId) => store.rawObject(id)?.length ?? DELTA_OBJECT_BYTES
  return objects.reduce((sum, { id }) => sum + lengthOf(id), frame)
}

export async function* packOf(
  objects: readonly ListedObject[],
  reader: StoreReader,
): AsyncGenerator<Buffer> {
  yield PACK_START
  for (const object of objects) yield* encodeObject(object, reader)
  yield PACK_END
}

async function* encodeObject(
  object: ListedObject,
  { store, blobs }: StoreReader,
): AsyncGenerator<Buffer> {
  const whole = copyWhole(object, store)
  if (whole !== undefined) {
    yield encodeHead({ ...object, ...whole, size: whole.content.length, length: whole.zlib.length })
    yield whole.zlib
    return
  }
  if (object.type === 'blob' && (yield* copyLarge(object, store))) return
  // A delta; or it is damaged, and git reports how.
  const content = await blobs.read(object.id)
  if (objectIdOf(object.type, content) !== object.id) throw damagedObject(object.id)
  const zlib = Buffer.from(deflate(content))
  yield encodeHead({ ...object, form: 'content', size: content.length, length: zlib.length })
  yield zlib
}

/** Undefined for a large object, for a delta, and if it is not what its id says. */
function copyWhole({ id, type }: ListedObject, store: ObjectStore) {
  const raw = store.rawObject(id)
  if (raw === undefined || raw.length > STREAM_BYTES) return undefined
  const fd = openIfThere(raw.path)
  if (fd === undefined) return undefined
  try {
    const zlib = readAt(fd, raw)
    const content = unpackObject(zlib, { type, form: raw.form, maxBytes: STREAM_BYTES })
    if (content === undefined || objectIdOf(type, content) !== id) return undefined
    return { form: raw.form, zlib, content }
  } finally {
    closeSync(fd)
  }
}

/** Reads it twice: the first time to compare it with its id. Returns false, and writes nothing, if it has to be read by git. */
async function* copyLarge(
  object: ListedObject,
  store: ObjectStore,
): AsyncGenerator<Buffer, boolean> {
  const raw = store.rawObject(object.id)
  // It stays open, because a collection may remove the file between the two.
  const fd = raw === undefined ? undefined : openIfThere(raw.path)
  if (raw === undefined || fd === undefined) return false
  try {
    const size = await verifyStream(object, { fd, raw })
    if (size === undefined) return false
    yield encodeHead({ ...object, form: raw.form, size, length: raw.length })
    for await (const piece of streamOf(fd, raw)) yield piece as Buffer
    return true
  } finally {
    closeSync(fd)
  }
}

/** The size of the content; undefined if it is not what its id says. */
async function verifyStream(
  { id, type }: ListedObject,
  { fd, raw }: { readonly fd: number; readonly raw: RawObject },
): Promise<number | undefined> {
  const hash = createHash('sha1')
  let size = 0
  // A loose object has its header in the stream.
  if (raw.size !== undefined) hash.update(objectHeader(type, raw.size))
  try {
    await pipeline(streamOf(fd, raw), createInflate(), async (inflated: AsyncIterable<Buffer>) => {
      for await (const chunk of inflated) {
        if (size === 0 && raw.size === undefined) size = -(chunk.indexOf(0) + 1)
        size += chunk.length
        hash.update(chunk)
      }
    })
  } catch (error) {
    if (isZlibError(error)) return undefined
    throw error
  }
  return hash.digest('hex') === id ? size : undefined
}

function streamOf(fd: number, { start, length }: RawObject): ReadStream {
  const end = start + length - 1
  return createReadStream('', { fd, autoClose: false, start, end, highWaterMark: 1 << 20 })
}

/** Undefined if a collection of another process has removed it. */
function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function damagedObject(id: ObjectId): SavestateError {
  return new SavestateError('STORE_DAMAGED', `Object ${id} in the store is damaged`, {
    hint: 'Run `savestate verify` to see which checkpoints are affected.',
  })
}
