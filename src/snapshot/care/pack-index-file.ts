// The index of a pack, read as a whole.
import { createHash } from 'node:crypto'
import type { ObjectId } from '../../model/index.js'

const HEADER = Buffer.from('\xfftOc\0\0\0\x02', 'latin1')
const FANOUT_BYTES = 256 * 4
const CHECKSUM_BYTES = 20
const LARGE = 0x80000000

export type PackIndexFile = {
  readonly count: number
  /** The checksum of the pack that it is of, in hexadecimal digits. */
  readonly packChecksum: string
  idAt(place: number): ObjectId
  offsetAt(place: number): number
  offsetOf(id: ObjectId): number | undefined
}

/** Undefined if it is not complete. With `quick` its checksum is not verified. */
export function parsePackIndex(
  bytes: Buffer,
  { quick }: { readonly quick: boolean },
): PackIndexFile | undefined {
  const least = HEADER.length + FANOUT_BYTES + 2 * CHECKSUM_BYTES
  if (bytes.length < least) return undefined
  if (!bytes.subarray(0, HEADER.length).equals(HEADER)) return undefined
  const end = bytes.length - CHECKSUM_BYTES
  if (!quick) {
    const checksum = createHash('sha1').update(bytes.subarray(0, end)).digest()
    if (!checksum.equals(bytes.subarray(end))) return undefined
  }
  const count = bytes.readUInt32BE(HEADER.length + 255 * 4)
  const ids = HEADER.length + FANOUT_BYTES
  const offsets = ids + count * 24
  const larges = offsets + count * 4
  if (larges > end - CHECKSUM_BYTES) return undefined
  const offsetAt = (place: number) => {
    const offset = bytes.readUInt32BE(offsets + place * 4)
    if (offset < LARGE) return offset
    const at = larges + (offset - LARGE) * 8
    // Nowhere: no object begins there.
    return at + 8 > end ? 0 : Number(bytes.readBigUInt64BE(at))
  }
  return {
    count,
    packChecksum: bytes.hexSlice(end - CHECKSUM_BYTES, end),
    idAt: (place) => bytes.hexSlice(ids + place * 20, ids + place * 20 + 20) as ObjectId,
    offsetAt,
    offsetOf(id) {
      const start = Number.parseInt(id.slice(0, 8), 16)
      const first = start >>> 24
      let low = first === 0 ? 0 : Math.min(count, bytes.readUInt32BE(HEADER.length + first * 4 - 4))
      let high = Math.min(count, bytes.readUInt32BE(HEADER.length + first * 4))
      while (low < high) {
        const middle = (low + high) >>> 1
        const at = ids + middle * 20
        // The first four bytes decide nearly always, and comparing them is a tenth of the work.
        const lead = start - bytes.readUInt32BE(at)
        const found = lead === 0 ? bytes.hexSlice(at, at + 20) : undefined
        if (found === id) return offsetAt(middle)
        if (lead < 0 || (found !== undefined && id < found)) high = middle
        else low = middle + 1
      }
      return undefined
    },
  }
}
