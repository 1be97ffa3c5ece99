// The checksums at the end of git's packs and indexes, and of our caches.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readSync, statSync } from 'node:fs'

const CHECKSUM_BYTES = 20
const INDEX_HEADER = Buffer.from('\xfftOc\0\0\0\x02', 'latin1')
/** Header, fan-out table and the two checksums. */
const LEAST_INDEX_BYTES = INDEX_HEADER.length + 256 * 4 + 2 * CHECKSUM_BYTES
const PIECE_BYTES = 1 << 20

/** Whether a file ends with the SHA-1 of all bytes before. Reads it piece by piece. */
export function endsWithItsHash(path: string): boolean {
  const end = statSync(path).size - CHECKSUM_BYTES
  if (end < 0) return false
  const fd = openSync(path, 'r')
  try {
    const hash = createHash('sha1')
    const piece = Buffer.allocUnsafe(PIECE_BYTES)
    for (let at = 0; at < end; ) {
      const read = readSync(fd, piece, 0, Math.min(PIECE_BYTES, end - at), at)
      if (read === 0) return false
      hash.update(piece.subarray(0, read))
      at += read
    }
    return hash.digest().equals(lastBytes(path))
  } finally {
    closeSync(fd)
  }
}

/** The checksum of the pack that an index belongs to; undefined for a file that is not an index. */
export function packChecksumIn(idx: string): Buffer | undefined {
  if (statSync(idx).size < LEAST_INDEX_BYTES) return undefined
  const start = readAt(idx, 0, INDEX_HEADER.length)
  return start.equals(INDEX_HEADER) ? lastBytes(idx, 2 * CHECKSUM_BYTES) : undefined
}

/** The checksum that begins `back` bytes before the end of a file. */
export function lastBytes(path: string, back = CHECKSUM_BYTES): Buffer {
  return readAt(path, Math.max(0, statSync(path).size - back), CHECKSUM_BYTES)
}

export function readAt(path: string, offset: number, length: number): Buffer {
  const fd = openSync(path, 'r')
  try {
    const bytes = Buffer.alloc(length)
    readSync(fd, bytes, 0, length, offset)
    return bytes
  } finally {
    closeSync(fd)
  }
}
