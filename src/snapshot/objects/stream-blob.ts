// Streams large files: they are hashed and compressed on the way and never completely in memory.
import { createHash } from 'node:crypto'
import {
  closeSync,
  createReadStream,
  createWriteStream,
  fsyncSync,
  openSync,
  type ReadStream,
} from 'node:fs'
import { join } from 'node:path'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { createDeflate } from 'node:zlib'
import type { ObjectId } from '../../model/index.js'
import { countLines, type LineCount, startLineCount } from './count-lines.js'
import { objectHeader } from './object-id.js'

export const STREAM_BYTES = 4 << 20

export type StreamedBlob = { readonly id: ObjectId; readonly path: string; readonly lines: number }

/**
 * Writes the open file's first `size` bytes as a complete loose object in a temporary file. Undefined if the file does not have
 * exactly that many bytes.
 */
export async function streamBlob(
  fd: number,
  {
    size,
    temporary,
    durable,
  }: { readonly size: number; readonly temporary: string; readonly durable: boolean },
): Promise<StreamedBlob | undefined> {
  const hash = createHash('sha1')
  const header = Buffer.from(objectHeader('blob', size), 'latin1')
  hash.update(header)
  const lines: LineCount = startLineCount()
  let read = 0
  const observe = new Transform({
    construct(done) {
      this.push(header)
      done()
    },
    transform(chunk: Buffer, _encoding, done) {
      read += chunk.length
      hash.update(chunk)
      countLines(lines, chunk)
      done(null, chunk)
    },
  })
  const path = join(temporary, `stream-${fd}`)
  await pipeline(
    contentOf(fd),
    observe,
    createDeflate({ level: 1, chunkSize: 256 << 10 }),
    createWriteStream(path, { mode: 0o600 }),
  )
  if (read !== size) return undefined
  if (durable) {
    const written = openSync(path, 'r')
    fsyncSync(written)
    closeSync(written)
  }
  return { id: hash.digest('hex') as ObjectId, path, lines: lines.isBinary ? 0 : lines.count }
}

/** The id of the open file, if it has this size; otherwise an unrelated id. */
export async function streamedId(fd: number, size: number): Promise<ObjectId> {
  const hash = createHash('sha1').update(objectHeader('blob', size), 'latin1')
  for await (const chunk of contentOf(fd)) hash.update(chunk as Buffer)
  return hash.digest('hex') as ObjectId
}

function contentOf(fd: number): ReadStream {
  return createReadStream('', { fd, autoClose: false, start: 0, highWaterMark: 1 << 20 })
}
