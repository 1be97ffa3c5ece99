// Git's pack index, version 2: written for our packs, and searched to know what the store has already.
import { createHash } from 'node:crypto'
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ObjectId } from '../../model/index.js'

export type IndexedEntry = { readonly id: ObjectId; readonly crc: number; readonly offset: number }

const HEADER_BYTES = 8
const FANOUT_BYTES = 256 * 4
const LARGE = 0x80000000
/** With 32 bits before it, the place of an entry still fits into a number exactly. */
const PLACES = 2 ** 20
const SETTLED_MS = 2000

export function encodePackIndex(unsorted: readonly IndexedEntry[], packChecksum: Buffer): Buffer {
  const entries = sortedById(unsorted)
  const count = entries.length
  const large = entries.filter(({ offset }) => offset >= LARGE)
  const bytes = Buffer.alloc(HEADER_BYTES + FANOUT_BYTES + count * 28 + large.length * 8 + 40)
  bytes.write('\xfftOc\0\0\0\x02', 0, 'latin1')
  const ids = HEADER_BYTES + FANOUT_BYTES
  const crcs = ids + count * 20
  const offsets = crcs + count * 4
  const larges = offsets + count * 4
  let largeCount = 0
  entries.forEach(({ id, crc, offset }, i) => {
    bytes.hexWrite(id, ids + i * 20)
    bytes.writeUInt32BE(crc, crcs + i * 4)
    if (offset < LARGE) {
      bytes.writeUInt32BE(offset, offsets + i * 4)
    } else {
      bytes.writeUInt32BE(LARGE + largeCount, offsets + i * 4)
      bytes.writeBigUInt64BE(BigInt(offset), larges + largeCount * 8)
      largeCount += 1
    }
  })
  let known = 0
  for (let first = 0; first < 256; first++) {
    while (known < count && bytes.readUInt8(ids + known * 20) <= first) known += 1
    bytes.writeUInt32BE(known, HEADER_BYTES + first * 4)
  }
  const trailer = larges + large.length * 8
  packChecksum.copy(bytes, trailer)
  createHash('sha1')
    .update(bytes.subarray(0, trailer + 20))
    .digest()
    .copy(bytes, trailer + 20)
  return bytes
}

/**
 * By numbers made of the first digits and the place: comparing names takes several times as long. Where the digits
 * are the same, the few entries are compared by name.
 */
function sortedById(entries: readonly IndexedEntry[]): readonly IndexedEntry[] {
  const byName = (a: IndexedEntry, b: IndexedEntry) => (a.id < b.id ? -1 : 1)
  if (entries.length >= PLACES) return [...entries].sort(byName)
  const keys = Float64Array.from(
    entries,
    ({ id }, place) => Number.parseInt(id.slice(0, 8), 16) * PLACES + place,
  ).sort()
  const sorted: IndexedEntry[] = []
  for (const key of keys) {
    const entry = entries[key % PLACES]
    if (entry === undefined) continue
    sorted.push(entry)
    for (let at = sorted.length - 1; at > 0; at--) {
      const before = sorted[at - 1]
      if (before === undefined || before.id < entry.id) break
      sorted[at] = before
      sorted[at - 1] = entry
    }
  }
  return sorted
}

/** `ids` of a small pack are kept in memory: a process that saves often has many such. */
type OpenIndex = {
  readonly fd: number
  readonly fanout: Buffer
  readonly ids: Buffer | undefined
}

const MAX_KEPT_IDS = 5000

/** Answers whether some pack of the store holds an object. */
export class PackIndexes {
  readonly #folder: string
  #open = new Map<string, OpenIndex>()
  #stamp = ''

  constructor(objectsFolder: string) {
    this.#folder = join(objectsFolder, 'pack')
  }

  /** Sees packs that came or went since the last look. */
  refresh(): void {
    const { mtimeNs, ctimeNs, ctimeMs } = statSync(this.#folder, { bigint: true })
    const stamp = `${mtimeNs} ${ctimeNs}`
    if (stamp === this.#stamp) return
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.idx'))
    const next = new Map<string, OpenIndex>()
    for (const name of names) {
      const index = this.#open.get(name) ?? openIndex(join(this.#folder, name))
      if (index !== undefined) next.set(name, index)
    }
    for (const [name, { fd }] of this.#open) if (!next.has(name)) closeSync(fd)
    this.#open = next
    // Times of the disk are coarse: what comes or goes right after this look may not change them.
    this.#stamp = Date.now() - Number(ctimeMs) > SETTLED_MS ? stamp : ''
  }

  has(id: ObjectId): boolean {
    if (this.#open.size === 0) return false
    const wanted = Buffer.from(id, 'hex')
    const first = wanted[0] ?? 0
    for (const index of this.#open.values()) {
      const from = first === 0 ? 0 : index.fanout.readUInt32BE((first - 1) * 4)
      const to = index.fanout.readUInt32BE(first * 4)
      if (to > from && holds(idsBetween(index, from, to), wanted)) return true
    }
    return false
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd)
    this.#open.clear()
    this.#stamp = ''
  }
}

function openIndex(path: string): OpenIndex | undefined {
  try {
    const fd = openSync(path, 'r')
    const fanout = Buffer.allocUnsafe(FANOUT_BYTES)
    if (readSync(fd, fanout, 0, FANOUT_BYTES, HEADER_BYTES) === FANOUT_BYTES) {
      const count = fanout.readUInt32BE(255 * 4)
      const isSmall = count > 0 && count <= MAX_KEPT_IDS
      const ids = isSmall ? idsBetween({ fd, ids: undefined }, 0, count) : undefined
      return { fd, fanout, ids }
    }
    // A damaged index is of no use here; `verify` tells.
    closeSync(fd)
    return undefined
  } catch (error) {
    // A collection in another process may remove a pack while we look.
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}

function idsBetween({ fd, ids }: Pick<OpenIndex, 'fd' | 'ids'>, from: number, to: number): Buffer {
  if (ids !== undefined) return ids.subarray(from * 20, to * 20)
  const read = Buffer.allocUnsafe((to - from) * 20)
  readSync(fd, read, 0, read.length, HEADER_BYTES + FANOUT_BYTES + from * 20)
  return read
}

function holds(ids: Buffer, wanted: Buffer): boolean {
  let low = 0
  let high = ids.length / 20
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = wanted.compare(ids, middle * 20, middle * 20 + 20)
    if (order === 0) return true
    if (order < 0) high = middle
    else low = middle + 1
  }
  return false
}
