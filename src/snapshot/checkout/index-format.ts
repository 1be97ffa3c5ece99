// Decodes the names in git's index file (gitformat-index(5)). It rejects everything that it does not understand to the last
// byte: a tracked file mistaken for an ignored one would be missing from a snapshot.

import { hash } from 'node:crypto'
import type { BytePath } from '../../model/index.js'
import { readRegularFile } from './regular-file.js'
import type { Repository } from './repository.js'

/** The index can't be decoded exactly here; git itself may be able to. */
export class IndexUnsupported extends Error {
  override readonly name = 'IndexUnsupported'
  readonly reason: string

  constructor(reason: string) {
    super(`Can't read the git index: ${reason}`)
    this.reason = reason
  }
}

/** The hashes of object ids and of the index checksum, with their length in bytes. */
const ID_BYTES = { sha1: 20, sha256: 32 } as const
type ObjectFormat = keyof typeof ID_BYTES

const HEADER_BYTES = 12
// Offsets from the start of an entry, after times, device and inode.
const MODE_OFFSET = 26
const ID_OFFSET = 40
const EXTENDED_FLAG = 0x4000
const NAME_LENGTH_MASK = 0x0fff
const TYPE_MASK = 0o170000
// Far above any real name, far below where a shift overflows.
const MAX_NAME_BYTES = 0xfffff
const MAX_CONFIG_BYTES = 64 * 1024 * 1024

/**
 * The names in an index, ascending and unique: files, symbolic links, and (with a trailing slash) the folders that a sparse
 * index has as one entry. No gitlinks. Throws IndexUnsupported.
 */
export function parseIndexNames(bytes: Buffer, format: string): readonly BytePath[] {
  if (!isObjectFormat(format)) throw new IndexUnsupported(`object format ${format}`)
  if (bytes.length < HEADER_BYTES + ID_BYTES[format]) throw new IndexUnsupported('truncated')
  if (bytes.toString('latin1', 0, 4) !== 'DIRC') throw new IndexUnsupported('no index signature')
  const version = bytes.readUInt32BE(4)
  if (version < 2 || version > 4) throw new IndexUnsupported(`version ${version}`)
  verifyChecksum(bytes, format)
  const { end, names } = parseEntries(bytes, { version, format })
  checkExtensions(bytes, { start: end, limit: bytes.length - ID_BYTES[format] })
  return names
}

function isObjectFormat(format: string): format is ObjectFormat {
  return Object.hasOwn(ID_BYTES, format)
}

function verifyChecksum(bytes: Buffer, format: ObjectFormat): void {
  const end = bytes.length - ID_BYTES[format]
  const expected = bytes.toString('hex', end)
  // index.skipHash writes zeros.
  if (/^0+$/.test(expected)) return
  if (hash(format, bytes.subarray(0, end)) !== expected) {
    throw new IndexUnsupported('checksum mismatch')
  }
}

function parseEntries(
  bytes: Buffer,
  { version, format }: { readonly version: number; readonly format: ObjectFormat },
): { readonly names: readonly BytePath[]; readonly end: number } {
  const limit = bytes.length - ID_BYTES[format]
  const flagsOffset = ID_OFFSET + ID_BYTES[format]
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length)
  const names: BytePath[] = []
  let position = HEADER_BYTES
  let previous = ''
  let lastKept = ''
  for (let left = bytes.readUInt32BE(8); left > 0; left--) {
    if (position + flagsOffset + 4 > limit) throw new IndexUnsupported('truncated')
    const flags = view.getUint16(position + flagsOffset)
    const isExtended = (flags & EXTENDED_FLAG) !== 0
    if (isExtended && version === 2) throw new IndexUnsupported('extended flags in version 2')

    let start = position + flagsOffset + (isExtended ? 4 : 2)
    let shared = ''
    if (version === 4) {
      const dropped = readVarint(bytes, start)
      if (dropped.value > previous.length) throw new IndexUnsupported('no such prefix')
      shared = previous.slice(0, previous.length - dropped.value)
      start = dropped.end
    }
    const length = flags & NAME_LENGTH_MASK
    // A longer name has the mask as its length; then it ends at the zero byte.
    const end =
      length === NAME_LENGTH_MASK ? bytes.indexOf(0, start) : start + length - shared.length
    if (end < start || end >= limit || bytes[end] !== 0) throw new IndexUnsupported('truncated')
    const name = shared + bytes.latin1Slice(start, end)

    // Equal names are the stages of a conflict. TrackedPaths relies on the order.
    if (name === '' || name < previous) throw new IndexUnsupported('entries out of order')
    previous = name
    if (name !== lastKept && isKept(view.getUint16(position + MODE_OFFSET), name)) {
      names.push(name as BytePath)
      lastKept = name
    }
    // Before version 4, one to eight zero bytes pad an entry to a multiple of eight.
    position = version === 4 ? end + 1 : position + ((end - position + 8) & ~7)
  }
  return { names, end: position }
}

function isKept(mode: number, name: string): boolean {
  switch (mode & TYPE_MASK) {
    case 0o100000:
    case 0o120000:
      return true
    case 0o160000:
      return false
    case 0o040000:
      if (name.endsWith('/')) return true
  }
  throw new IndexUnsupported(`entry with mode ${mode.toString(8)}`)
}

// Seven bits per byte, highest first; each byte but the first adds one, so that every number has one encoding.
function readVarint(bytes: Buffer, start: number): { value: number; end: number } {
  let end = start
  let byte = bytes.readUInt8(end++)
  let value = byte & 0x7f
  while (byte & 0x80) {
    if (end === bytes.length || value > MAX_NAME_BYTES) throw new IndexUnsupported('no such prefix')
    byte = bytes.readUInt8(end++)
    value = ((value + 1) << 7) | (byte & 0x7f)
  }
  return { value, end }
}

function checkExtensions(
  bytes: Buffer,
  { start, limit }: { readonly start: number; readonly limit: number },
): void {
  let position = start
  while (position + 8 <= limit) {
    const signature = bytes.toString('latin1', position, position + 4)
    if (signature === 'link') throw new IndexUnsupported('split index')
    // `sdir` only announces folder entries; an extension with a capital letter is optional by definition.
    if (signature !== 'sdir' && !/^[A-Z]/.test(signature)) {
      throw new IndexUnsupported(`extension ${JSON.stringify(signature)}`)
    }
    position += 8 + bytes.readUInt32BE(position + 4)
  }
  if (position !== limit) throw new IndexUnsupported('truncated')
}

/**
 * The hash algorithm of a repository: `extensions.objectformat` in lower case; `sha1` if there is none. Like git's early
 * setup, reads only the repository's own config file and no includes.
 */
export function readObjectFormat({ commonDir }: Repository): string {
  const bytes = readRegularFile(`${commonDir}/config`, MAX_CONFIG_BYTES)
  if (bytes === 'absent') return 'sha1'
  if (bytes === 'unfit') throw new IndexUnsupported('the config is not a regular file')
  let section = ''
  let format = 'sha1'
  for (const line of bytes.toString('latin1').split('\n')) {
    const header = /^[ \t]*\[([^\]]*)\]/.exec(line)
    if (header !== null) section = (header[1] ?? '').toLowerCase()
    if (section !== 'extensions') continue
    const setting = line.slice(header?.[0].length ?? 0)
    format = /^[ \t]*objectformat[ \t]*=[ \t]*"?(\w+)/i.exec(setting)?.[1]?.toLowerCase() ?? format
  }
  return format
}
