// What the packs of the store hold, by their indexes.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ObjectId } from '../../model/index.js'
import { FANOUT_BYTES, HEADER_BYTES, LARGE } from './pack-index.js'

const SETTLED_MS = 2000

/** `ids` of a small pack are kept in memory: a process that saves often has many such. */
type OpenIndex = {
  readonly fd: number
  readonly count: number
  readonly fanout: Buffer
  readonly ids: Buffer | undefined
}

/** A pack that has an object, and where its objects begin. */
export type Holder = {
  /** Without its ending. */
  readonly name: string
  /** Undefined of what it does not hold, and of what lies beyond the first 2 GB. */
  offsetOf(id: ObjectId): number | undefined
}

const MAX_KEPT_IDS = 5000

/** Answers whether some pack of the store holds an object. */
export class PackIndexes {
  readonly #folder: string
  #open = new Map<string, OpenIndex>()
  /** Of all ids that are kept in memory: most objects asked for are new, and a process that saves much has many packs. */
  #beginnings = new Beginnings()
  #stamp = ''
  #losses = 0

  constructor(objectsFolder: string) {
    this.#folder = join(objectsFolder, 'pack')
  }

  /** Counts how often packs have gone: then no Holder from before is of use. */
  get losses(): number {
    return this.#losses
  }

  /** Sees packs that came or went since the last look. */
  refresh(): void {
    const { mtimeNs, ctimeNs, ctimeMs } = statSync(this.#folder, { bigint: true })
    const stamp = `${mtimeNs} ${ctimeNs}`
    if (stamp === this.#stamp) return
    const names = readdirSync(this.#folder).filter((name) => name.endsWith('.idx'))
    const next = new Map<string, OpenIndex>()
    for (const name of names) {
      const known = this.#open.get(name)
      const index = known ?? openIndex(join(this.#folder, name))
      if (index === undefined) continue
      next.set(name, index)
      if (known === undefined) this.#beginnings.add(index.ids)
    }
    for (const [name, { fd }] of this.#open) if (!next.has(name)) closeSync(fd)
    const hasLostAny = [...this.#open.keys()].some((name) => !next.has(name))
    this.#open = next
    if (hasLostAny) {
      this.#beginnings = beginningsOf(next.values())
      this.#losses += 1
    }
    // Times of the disk are coarse: what comes or goes right after this look may not change them.
    this.#stamp = Date.now() - Number(ctimeMs) > SETTLED_MS ? stamp : ''
  }

  has(id: ObjectId): boolean {
    return this.#find(id) !== undefined
  }

  holderOf(id: ObjectId): Holder | undefined {
    const found = this.#find(id)
    if (found === undefined) return undefined
    const { name, index } = found
    return {
      name: name.slice(0, -'.idx'.length),
      offsetOf(other) {
        const place = placeIn(index, Buffer.from(other, 'hex'))
        return place === undefined ? undefined : offsetAt(index, place)
      },
    }
  }

  #find(id: ObjectId): { readonly name: string; readonly index: OpenIndex } | undefined {
    if (this.#open.size === 0) return undefined
    const wanted = Buffer.from(id, 'hex')
    const mayBeKept = this.#beginnings.has(wanted)
    for (const [name, index] of this.#open) {
      if (index.ids !== undefined && !mayBeKept) continue
      if (placeIn(index, wanted) !== undefined) return { name, index }
    }
    return undefined
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd)
    this.#open.clear()
    this.#beginnings = new Beginnings()
    this.#losses += 1
    this.#stamp = ''
  }
}

const BEGINNING_BITS = 20

/** A bit for each way in which an id can begin, set if one of the ids does. */
class Beginnings {
  #bits = new Uint8Array(0)

  add(ids: Buffer | undefined): void {
    if (ids === undefined) return
    if (this.#bits.length === 0) this.#bits = new Uint8Array(2 ** (BEGINNING_BITS - 3))
    const bits = this.#bits
    for (let at = 0; at < ids.length; at += 20) {
      const beginning = beginningAt(ids, at)
      bits[beginning >>> 3] = (bits[beginning >>> 3] ?? 0) | (1 << (beginning & 7))
    }
  }

  has(id: Buffer): boolean {
    const beginning = beginningAt(id, 0)
    return ((this.#bits[beginning >>> 3] ?? 0) & (1 << (beginning & 7))) !== 0
  }
}

function beginningAt(ids: Buffer, at: number): number {
  // By hand: a call of Buffer's own takes long until it is warm, and there are thousands.
  const word = ((ids[at] ?? 0) << 24) | ((ids[at + 1] ?? 0) << 16) | ((ids[at + 2] ?? 0) << 8)
  return word >>> (32 - BEGINNING_BITS)
}

function beginningsOf(indexes: Iterable<OpenIndex>): Beginnings {
  const beginnings = new Beginnings()
  for (const { ids } of indexes) beginnings.add(ids)
  return beginnings
}

function openIndex(path: string): OpenIndex | undefined {
  try {
    const fd = openSync(path, 'r')
    const fanout = Buffer.allocUnsafe(FANOUT_BYTES)
    if (readSync(fd, fanout, 0, FANOUT_BYTES, HEADER_BYTES) === FANOUT_BYTES) {
      const count = fanout.readUInt32BE(255 * 4)
      const isSmall = count > 0 && count <= MAX_KEPT_IDS
      const ids = isSmall ? idsBetween({ fd, ids: undefined }, 0, count) : undefined
      return { fd, count, fanout, ids }
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

/** Which of all entries it is. */
function placeIn(index: OpenIndex, wanted: Buffer): number | undefined {
  const first = wanted[0] ?? 0
  const from = first === 0 ? 0 : index.fanout.readUInt32BE((first - 1) * 4)
  const to = index.fanout.readUInt32BE(first * 4)
  if (to <= from) return undefined
  const ids = idsBetween(index, from, to)
  let low = 0
  let high = to - from
  while (low < high) {
    const middle = (low + high) >>> 1
    const order = wanted.compare(ids, middle * 20, middle * 20 + 20)
    if (order === 0) return from + middle
    if (order < 0) high = middle
    else low = middle + 1
  }
  return undefined
}

function offsetAt({ fd, count }: OpenIndex, place: number): number | undefined {
  const bytes = Buffer.alloc(4)
  readSync(fd, bytes, 0, 4, HEADER_BYTES + FANOUT_BYTES + count * 24 + place * 4)
  const offset = bytes.readUInt32BE()
  return offset < LARGE ? offset : undefined
}
