// Looks up objects in the pack indexes of the store.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ObjectId } from '../../model/index.js'
import { FANOUT_BYTES, HEADER_BYTES, LARGE } from './pack-index.js'

const STABLE_MS = 2000

/** `ids` of small packs are kept in memory: a process that saves often creates many of them. */
type OpenIndex = {
  readonly fd: number
  readonly count: number
  readonly fanout: Buffer
  readonly ids: Buffer | undefined
}

/** A pack that contains an object, with the offsets of its objects. */
export type Holder = {
  /** Without the extension. */
  readonly name: string
  /** Undefined for objects that it lacks, and beyond the first 2 GB. */
  offsetOf(id: ObjectId): number | undefined
}

const MAX_KEPT_IDS = 5000

/** Finds the pack that contains an object. */
export class PackIndexes {
  readonly #folder: string
  #open = new Map<string, OpenIndex>()
  /** Over all ids in memory. Most lookups are for new objects, and there may be many packs. */
  #prefixes = new PrefixBitmap()
  #stamp = ''
  #losses = 0

  constructor(objectsFolder: string) {
    this.#folder = join(objectsFolder, 'pack')
  }

  /** How often packs were removed: then earlier Holders are invalid. */
  get losses(): number {
    return this.#losses
  }

  /** Picks up packs that were added or removed. */
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
      if (known === undefined) this.#prefixes.add(index.ids)
    }
    for (const [name, { fd }] of this.#open) if (!next.has(name)) closeSync(fd)
    const hasLostAny = [...this.#open.keys()].some((name) => !next.has(name))
    this.#open = next
    if (hasLostAny) {
      this.#prefixes = prefixesOf(next.values())
      this.#losses += 1
    }
    // File times are coarse: a change right after this stat may not change them.
    this.#stamp = Date.now() - Number(ctimeMs) > STABLE_MS ? stamp : ''
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
        const number = entryNumber(index, Buffer.from(other, 'hex'))
        return number === undefined ? undefined : offsetAt(index, number)
      },
    }
  }

  #find(id: ObjectId): { readonly name: string; readonly index: OpenIndex } | undefined {
    if (this.#open.size === 0) return undefined
    const wanted = Buffer.from(id, 'hex')
    const mayBeKept = this.#prefixes.has(wanted)
    for (const [name, index] of this.#open) {
      if (index.ids !== undefined && !mayBeKept) continue
      if (entryNumber(index, wanted) !== undefined) return { name, index }
    }
    return undefined
  }

  close(): void {
    for (const { fd } of this.#open.values()) closeSync(fd)
    this.#open.clear()
    this.#prefixes = new PrefixBitmap()
    this.#losses += 1
    this.#stamp = ''
  }
}

const PREFIX_BITS = 20

/** A bitmap over id prefixes: set if any id starts with the prefix. */
class PrefixBitmap {
  #bits = new Uint8Array(0)

  add(ids: Buffer | undefined): void {
    if (ids === undefined) return
    if (this.#bits.length === 0) this.#bits = new Uint8Array(2 ** (PREFIX_BITS - 3))
    const bits = this.#bits
    for (let at = 0; at < ids.length; at += 20) {
      const prefix = prefixAt(ids, at)
      bits[prefix >>> 3] = (bits[prefix >>> 3] ?? 0) | (1 << (prefix & 7))
    }
  }

  has(id: Buffer): boolean {
    const prefix = prefixAt(id, 0)
    return ((this.#bits[prefix >>> 3] ?? 0) & (1 << (prefix & 7))) !== 0
  }
}

function prefixAt(ids: Buffer, at: number): number {
  // Not Buffer.readUInt32BE: it is slow until it is optimized, and there are thousands of calls.
  const word = ((ids[at] ?? 0) << 24) | ((ids[at + 1] ?? 0) << 16) | ((ids[at + 2] ?? 0) << 8)
  return word >>> (32 - PREFIX_BITS)
}

function prefixesOf(indexes: Iterable<OpenIndex>): PrefixBitmap {
  const prefixes = new PrefixBitmap()
  for (const { ids } of indexes) prefixes.add(ids)
  return prefixes
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
    // A damaged index is ignored here; `verify` reports it.
    closeSync(fd)
    return undefined
  } catch (error) {
    // Another process's garbage collection may remove the pack.
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

/** The number of the entry. */
function entryNumber(index: OpenIndex, wanted: Buffer): number | undefined {
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

function offsetAt({ fd, count }: OpenIndex, number: number): number | undefined {
  const bytes = Buffer.alloc(4)
  readSync(fd, bytes, 0, 4, HEADER_BYTES + FANOUT_BYTES + count * 24 + number * 4)
  const offset = bytes.readUInt32BE()
  return offset < LARGE ? offset : undefined
}
