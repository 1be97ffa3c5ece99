// The stat cache on disk: all nodes in columns, read back in a few milliseconds. Derived: a missing,
// damaged or foreign file only costs the time to read the project again.
import { createHash } from 'node:crypto'
import { closeSync, fstatSync, openSync, readSync, rmSync, statSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { type BytePath, hasCode, type ObjectId, type Snapshot } from '../../../model/index.js'
import { makeFolderIn, writeFileAtomically } from '../../../system/index.js'
import type { NodeTable } from './columns.js'
import { encodeNodes } from './node-columns.js'
import { type NodeSizes, PackedNodes } from './packed-nodes.js'
import type { Memory } from '../scan/scan-types.js'
import type { KnownIndex } from '../scan/tracking.js'

export type CachedProject = Memory & {
  /** The project these nodes are of; another root's are of no use. */
  readonly rootPath: BytePath
  /** What the last capture made of the nodes. */
  readonly snapshot: Snapshot | undefined
  readonly modes: ObjectId | undefined
  /** The snapshot of a checkpoint that holds the objects of every node up to `keptEpoch`. */
  readonly keptBy: ObjectId | undefined
  readonly keptEpoch: number
  /** Counts captures; a node has that of the capture which stored it. */
  readonly epoch: number
}

const MAGIC = Buffer.from('savestate-cache-7\n', 'latin1')
const CHECKSUM_BYTES = 20
/** Columns of numbers of eight bytes begin at a multiple of eight. */
const ALIGNMENT = 8

type Head = {
  readonly rootPath: BytePath
  readonly snapshot: Snapshot | null
  readonly modes: ObjectId | null
  readonly keptBy: ObjectId | null
  readonly indexes: readonly (readonly [BytePath, KnownIndex])[]
  readonly nodes: NodeSizes
}

/** Undefined if there is no room, or no store any more: what was saved is saved, and without a cache the next save takes longer. */
export function keepStatCache(path: string, known: CachedProject): NodeTable | undefined {
  try {
    const folder = dirname(path)
    makeFolderIn(dirname(folder), basename(folder))
    // Whatever else stands there is not ours to keep: the cache is derived.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) rmSync(path, { recursive: true })
    return writeStatCache(path, known)
  } catch (error) {
    if (hasCode(error, 'ENOSPC', 'EDQUOT', 'ENOENT')) return undefined
    throw error
  }
}

export function writeStatCache(path: string, cached: CachedProject): NodeTable {
  const { bytes, sizes, table } = encodeNodes(cached.root, cached.keptEpoch)
  const head: Head = {
    rootPath: cached.rootPath,
    snapshot: cached.snapshot ?? null,
    modes: cached.modes ?? null,
    keptBy: cached.keptBy ?? null,
    indexes: [...cached.indexes],
    nodes: sizes,
  }
  const unaligned = Buffer.from(JSON.stringify(head), 'utf8')
  const over = (MAGIC.length + 4 + unaligned.length) % ALIGNMENT
  const text = Buffer.concat([unaligned, Buffer.alloc((ALIGNMENT - over) % ALIGNMENT, ' ')])
  const size = Buffer.alloc(4)
  size.writeUInt32LE(text.length)
  const parts = [MAGIC, size, text, bytes]
  const hash = createHash('sha1')
  for (const part of parts) hash.update(part)
  const content = Buffer.concat([...parts, hash.digest()])
  writeFileAtomically({ path, content, durable: false })
  return table
}

export function readStatCache(
  path: string,
  rootPath: BytePath,
): { readonly cached: CachedProject; readonly packed: PackedNodes } | undefined {
  const memory = readOrAbsent(path)
  if (memory === undefined) return undefined
  const bytes = Buffer.from(memory)
  if (!bytes.subarray(0, MAGIC.length).equals(MAGIC)) return undefined
  const body = bytes.subarray(0, bytes.length - CHECKSUM_BYTES)
  const checksum = createHash('sha1').update(body).digest()
  if (!checksum.equals(bytes.subarray(bytes.length - CHECKSUM_BYTES))) return undefined
  const start = MAGIC.length + 4
  const end = start + body.readUInt32LE(MAGIC.length)
  const head = JSON.parse(body.toString('utf8', start, end)) as Head
  if (head.rootPath !== rootPath) return undefined
  const packed = new PackedNodes(memory, end, head.nodes)
  const cached = {
    rootPath,
    root: packed.root,
    indexes: new Map(head.indexes),
    snapshot: head.snapshot ?? undefined,
    modes: head.modes ?? undefined,
    keptBy: head.keptBy ?? undefined,
    keptEpoch: 0,
    epoch: 1,
  }
  return { cached, packed }
}

/** Into memory that a helper can share, where it stays. */
function readOrAbsent(path: string): SharedArrayBuffer | undefined {
  try {
    const fd = openSync(path, 'r')
    try {
      const memory = new SharedArrayBuffer(fstatSync(fd).size)
      const bytes = Buffer.from(memory)
      // What is cut off meanwhile lacks its checksum.
      for (let at = 0; at < bytes.length; ) {
        const count = readSync(fd, bytes, at, bytes.length - at, at)
        if (count === 0) break
        at += count
      }
      return memory
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EISDIR', 'EACCES', 'EIO')) return undefined
    throw error
  }
}
