// The stat cache on disk: all nodes in columns, read back in a few milliseconds. It is derived: without it, or if it is
// damaged, the next save reads the whole project.
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
  /** The project's path; nodes of another path are not used. */
  readonly rootPath: BytePath
  /** The snapshot of the last capture. */
  readonly snapshot: Snapshot | undefined
  readonly modes: ObjectId | undefined
  /** The snapshot of a checkpoint that keeps the objects of every node up to `keptEpoch`. */
  readonly keptBy: ObjectId | undefined
  readonly keptEpoch: number
  /** The number of the last capture; each node has the number of the capture that stored it. */
  readonly epoch: number
}

const MAGIC = Buffer.from('savestate-cache-8\n', 'latin1')
const CHECKSUM_BYTES = 20
/** Typed arrays of eight-byte numbers must be aligned. */
const ALIGNMENT = 8

type Head = {
  readonly rootPath: BytePath
  readonly snapshot: Snapshot | null
  readonly modes: ObjectId | null
  readonly keptBy: ObjectId | null
  readonly indexes: readonly (readonly [BytePath, KnownIndex])[]
  readonly nodes: NodeSizes
}

/** Undefined if the disk is full or the store is gone: without a cache, only the next save takes longer. */
export function saveStatCache(path: string, known: CachedProject): NodeTable | undefined {
  try {
    const folder = dirname(path)
    makeFolderIn(dirname(folder), basename(folder))
    // A folder at this path is not ours; the cache is derived, so replace it.
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

/** Reads into memory that the stat thread shares. */
function readOrAbsent(path: string): SharedArrayBuffer | undefined {
  try {
    const fd = openSync(path, 'r')
    try {
      const memory = new SharedArrayBuffer(fstatSync(fd).size)
      const bytes = Buffer.from(memory)
      // If the file is truncated meanwhile, the checksum does not match.
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
