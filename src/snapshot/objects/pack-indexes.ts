// Looks up objects in the pack indexes of the store.
import { closeSync, openSync, readdirSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode, type ObjectId } from '../../model/index.js'
import { FANOUT_BYTES, HEADER_BYTES, LARGE } from './pack-format.js'

const STABLE_MS = 2000

/** `ids` of small packs are kept in memory: a process that saves often creates many of them. */
type OpenIndex = {
  readonly fd: number
  readonly count: number
  readonly fanout: Buffer
  readonly ids: Buffer | undefined
  /** The offsets of all entries, sorted; read on first use. */
  offsets?: Uint32Array
}

const MAX_KEPT_IDS = 5000

export class PackIndexes {
  readonly #folder: string
  #open = new Map<string, OpenIndex>()
  #stamp = ''

  constructor(objectsFolder: string) {
    this.#folder = join(objectsFolder, 'pack')
  }

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
    // File times are coarse: a change right after this stat may not change them.
    this.#stamp = Date.now() - Number(ctimeMs) > STABLE_MS ? stamp : ''
  }

  has(id: ObjectId): boolean {
    return this.#find(id) !== undefined
  }

  /** The pack with the object, and the offset in it; undefined if there is none, or beyond the first 2 GB. */
  locate(id: ObjectId): { readonly pack: string; readonly offset: number } | undefined {
    const found = this.#find(id)
    if (found === undefined) return undefined
    const offset = offsetAt(found.index, found.number)
    return offset === undefined ? undefined : { pack: found.name.slice(0, -'.idx'.length), offset }
  }

  /** Like `locate`, with the offset where the next entry begins, if there is one. */
  extentOf(id: ObjectId) {
    const found = this.#find(id)
    if (found === undefined) return undefined
    const start = offsetAt(found.index, found.number)
    const offsets = (found.index.offsets ??= sortedOffsets(found.index))
    const next = start === undefined ? undefined : firstAbove(offsets, start)
    if (start === undefined || (next ?? 0) >= LARGE) return undefined
    return { pack: found.name.slice(0, -'.idx'.length), start, next }
  }

  #find(id: ObjectId) {
    if (this.#open.size === 0) return undefined
    const wanted = Buffer.from(id, 'hex')
    for (const [name, index] of this.#open) {
      const number = entryNumber(index, wanted)
      if (number !== undefined) return { name, index, number }
    }
    return undefined
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

function sortedOffsets({ fd, count }: OpenIndex): Uint32Array {
  const bytes = Buffer.alloc(count * 4)
  readSync(fd, bytes, 0, bytes.length, HEADER_BYTES + FANOUT_BYTES + count * 24)
  // Offsets beyond 2 GB are in another table; here they sort behind all others.
  return Uint32Array.from({ length: count }, (_, i) => bytes.readUInt32BE(i * 4)).sort()
}

function firstAbove(sorted: Uint32Array, offset: number): number | undefined {
  let low = 0
  let high = sorted.length
  while (low < high) {
    const middle = (low + high) >>> 1
    if ((sorted[middle] ?? 0) <= offset) low = middle + 1
    else high = middle
  }
  return sorted[low]
}

function offsetAt({ fd, count }: OpenIndex, number: number): number | undefined {
  const bytes = Buffer.alloc(4)
  readSync(fd, bytes, 0, 4, HEADER_BYTES + FANOUT_BYTES + count * 24 + number * 4)
  const offset = bytes.readUInt32BE()
  return offset < LARGE ? offset : undefined
}
