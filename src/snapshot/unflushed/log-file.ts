// The form of a log of unflushed files: one line, then for each save its length, its checksum and its files. What a
// power cut or a kill has left half-written at the end was never acknowledged, and is not read.
import { closeSync, openSync, readSync } from 'node:fs'
import { crc32 } from 'node:zlib'
import { hasCode } from '../../model/index.js'
import { ownIdentity } from '../../system/index.js'

/** A file of the store's git repository; its name is relative to that. */
export type LoggedFile = { readonly name: string; readonly content: Uint8Array }

export type LogContent = {
  /** The start of the machine that it belongs to; undefined if nobody can tell. */
  readonly boot: string | undefined
  readonly files: readonly LoggedFile[]
  /** Where the next save is to be added: behind the last whole one. */
  readonly end: number
}

const MAGIC = 'savestate unflushed 1 '
const HEAD_BYTES = 8
const LENGTHS_BYTES = 6
const MAX_LINE = 200
const NAME = /^(?:objects\/[0-9a-f]{2}\/[0-9a-f]{38}|refs\/savestate\/[a-z]+\/[a-z]+)$/

export function logHeader(): Buffer {
  return Buffer.from(`${MAGIC}${ownIdentity().boot}\n`)
}

export function logRecord(files: readonly LoggedFile[]): Buffer {
  const parts = files.flatMap(({ name, content }) => {
    const lengths = Buffer.alloc(LENGTHS_BYTES)
    lengths.writeUInt16BE(Buffer.byteLength(name), 0)
    lengths.writeUInt32BE(content.length, 2)
    return [lengths, Buffer.from(name), content]
  })
  const record = Buffer.concat([Buffer.alloc(HEAD_BYTES), ...parts])
  record.writeUInt32BE(record.length - HEAD_BYTES, 0)
  record.writeUInt32BE(crc32(record.subarray(HEAD_BYTES)), 4)
  return record
}

/** Undefined if it has no header yet, or is gone. */
export function bootOfLog(path: string): string | undefined {
  const start = Buffer.alloc(MAX_LINE)
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  try {
    return bootIn(start.subarray(0, readSync(fd, start)))
  } finally {
    closeSync(fd)
  }
}

export function parseLog(bytes: Buffer): LogContent {
  const boot = bootIn(bytes)
  if (boot === undefined) return { boot, files: [], end: 0 }
  const files: LoggedFile[] = []
  let end = bytes.indexOf('\n') + 1
  for (;;) {
    const body = recordAt(bytes, end)
    const found = body && filesIn(body)
    if (body === undefined || found === undefined) return { boot, files, end }
    files.push(...found)
    end += HEAD_BYTES + body.length
  }
}

function bootIn(bytes: Buffer): string | undefined {
  const line = bytes.subarray(0, MAX_LINE).toString('latin1').split('\n', 2)
  const [header = '', rest] = line
  return rest !== undefined && header.startsWith(MAGIC) ? header.slice(MAGIC.length) : undefined
}

function recordAt(bytes: Buffer, at: number): Buffer | undefined {
  if (at + HEAD_BYTES > bytes.length) return undefined
  const start = at + HEAD_BYTES
  const length = bytes.readUInt32BE(at)
  if (length === 0 || start + length > bytes.length) return undefined
  const body = bytes.subarray(start, start + length)
  return crc32(body) === bytes.readUInt32BE(at + 4) ? body : undefined
}

/** Undefined for what we would not have written. */
function filesIn(body: Buffer): LoggedFile[] | undefined {
  const files: LoggedFile[] = []
  for (let at = 0; at < body.length; ) {
    if (at + LENGTHS_BYTES > body.length) return undefined
    const nameAt = at + LENGTHS_BYTES
    const nameEnd = nameAt + body.readUInt16BE(at)
    const end = nameEnd + body.readUInt32BE(at + 2)
    const name = body.toString('latin1', nameAt, nameEnd)
    if (end > body.length || !NAME.test(name)) return undefined
    files.push({ name, content: body.subarray(nameEnd, end) })
    at = end
  }
  return files
}
