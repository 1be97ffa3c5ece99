// Every file in the object folder, looked at by ourselves: git gives up on much that still can be read.
import { createReadStream, lstatSync, readFileSync } from 'node:fs'
import { createHash } from 'node:crypto'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { createInflate, inflateSync } from 'node:zlib'
import { hasCode, isError, type ObjectId } from '../../model/index.js'
import { loosePath } from '../objects/loose.js'
import { objectIdOf, type ObjectType } from '../objects/object-id.js'
import type { ObjectContent } from './pack-file.js'
import { listIfThere } from '../../system/index.js'

/** Larger ones are read as a stream, and never looked into. */
const MAX_AT_ONCE = 8 << 20

/** Ids of the loose objects, and files that are none. */
export function looseFiles(folder: string): {
  readonly ids: readonly ObjectId[]
  readonly others: readonly string[]
} {
  const ids: ObjectId[] = []
  const others: string[] = []
  for (const prefix of listIfThere(folder)) {
    if (!/^[0-9a-f]{2}$/.test(prefix)) continue
    for (const name of listIfThere(join(folder, prefix))) {
      if (/^[0-9a-f]{38}$/.test(name)) ids.push((prefix + name) as ObjectId)
      else others.push(join(folder, prefix, name))
    }
  }
  return { ids, others }
}

/** Whether a loose object holds the bytes of its name. One that was removed meanwhile is not damaged. */
export async function isLooseWhole(folder: string, id: ObjectId): Promise<boolean> {
  const path = loosePath(folder, id)
  const size = lstatSync(path, { throwIfNoEntry: false })?.size
  if (size === undefined) return true
  return size > MAX_AT_ONCE ? isStreamWhole(path, id) : readLoose(folder, id) !== undefined
}

/** Undefined if it is not there or its content does not match its name. */
export function readLoose(folder: string, id: ObjectId): ObjectContent | undefined {
  let whole: Buffer
  try {
    whole = inflateSync(readFileSync(loosePath(folder, id)))
  } catch (error) {
    if (hasCode(error, 'ENOENT') || isZlibFault(error)) return undefined
    throw error
  }
  const end = whole.indexOf(0)
  const type = /^(commit|tree|blob) /.exec(whole.latin1Slice(0, 7))?.[1] as ObjectType | undefined
  if (end === -1 || type === undefined) return undefined
  const content = whole.subarray(end + 1)
  return objectIdOf(type, content) === id ? { type, content } : undefined
}

async function isStreamWhole(path: string, id: ObjectId): Promise<boolean> {
  const hash = createHash('sha1')
  try {
    await pipeline(createReadStream(path), createInflate(), async (source) => {
      for await (const piece of source as AsyncIterable<Buffer>) hash.update(piece)
    })
  } catch (error) {
    if (hasCode(error, 'ENOENT') || isZlibFault(error)) return false
    throw error
  }
  return hash.digest('hex') === id
}

function isZlibFault(error: unknown): boolean {
  return (
    hasCode(error, 'ERR_BUFFER_TOO_LARGE') ||
    (isError(error) &&
      'code' in error &&
      typeof error.code === 'string' &&
      error.code.startsWith('Z_'))
  )
}
