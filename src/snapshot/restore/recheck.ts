// The last check before a path is replaced or removed: whether it still matches the safety checkpoint (I3).
import { type BigIntStats, lstatSync, readlinkSync } from 'node:fs'
import {
  type BytePath,
  type Entry,
  type FileEntry,
  hasCode,
  type LinkEntry,
} from '../../model/index.js'
import { type ContentNode, type FolderNode, findNode } from '../capture/stat-cache/node.js'
import { readStable } from '../capture/hash/read-file.js'
import { isSameStamp } from '../capture/stat-cache/stats.js'
import { objectIdOf } from '../objects/object-id.js'
import type { MovedStamp } from './asides.js'

const MODE_BITS = 0o7777

/** The safety checkpoint's entry at a path, and an fs path to it that follows no link. */
type Expected<E> = { readonly from: E; readonly location: string | Buffer }

export class Recheck {
  readonly #root: FolderNode

  /** `root`: the folder as the safety checkpoint has it. */
  constructor(root: FolderNode) {
    this.#root = root
  }

  /** Whether the path still matches the safety checkpoint. */
  matchesSafety(path: BytePath, { from, location }: Expected<Entry | undefined>): boolean {
    const stats = statIfExists(location)
    if (from === undefined) return stats === undefined
    if (stats === undefined) return false
    // A folder is removed only when empty, and never overwritten: its type is all that matters.
    if (from.type === 'folder') return stats.isDirectory()
    const node = this.#nodeOf(path, from)
    if (node?.isStable === true && isSameStamp(node, stats)) return true
    // A different stamp need not mean different content: hard links share one stamp, and we may just have removed one of them.
    return node !== undefined && hasContent(from, { location, stats, size: node.size })
  }

  /**
   * The same for a file or link that was moved from `path` to `location`; undefined if it differs. If there is a `stamp`, an equal
   * stamp later proves equal content.
   */
  checkMovedFile(
    path: BytePath,
    { from, location }: Expected<FileEntry | LinkEntry>,
  ): { readonly stamp: MovedStamp | undefined } | undefined {
    const stats = statIfExists(location)
    const node = this.#nodeOf(path, from)
    if (stats === undefined || node === undefined) return undefined
    // The move set ctime. A write since the capture would have set mtime, and a stable node was read well after its mtime.
    const { size, mtimeNs, ino } = stats
    const moved = { size: node.size, mtimeNs: node.mtimeNs, ctimeNs: stats.ctimeNs, ino: node.ino }
    if (node.isStable && isSameStamp(moved, stats) && isAs(from, stats))
      return { stamp: { size, mtimeNs, ino } }
    const isSame = hasContent(from, { location, stats, size: node.size })
    return isSame ? { stamp: undefined } : undefined
  }

  #nodeOf(path: BytePath, { type }: FileEntry | LinkEntry): ContentNode | undefined {
    const node = findNode(this.#root, path)
    return node?.kind === type ? node : undefined
  }
}

function hasContent(
  from: FileEntry | LinkEntry,
  { location, stats, size }: { location: string | Buffer; stats: BigIntStats; size: number },
): boolean {
  return (
    size === Number(stats.size) && isAs(from, stats) && contentIdOf(location, stats) === from.blob
  )
}

function isAs(from: Entry, stats: BigIntStats): boolean {
  if (from.type === 'link') return stats.isSymbolicLink()
  return stats.isFile() && (Number(stats.mode) & MODE_BITS) === from.mode
}

function statIfExists(location: string | Buffer): BigIntStats | undefined {
  try {
    return lstatSync(location, { bigint: true })
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    throw error
  }
}

/** Undefined if it cannot be read, or keeps changing. */
export function contentIdOf(location: string | Buffer, stats: BigIntStats): string | undefined {
  if (stats.isSymbolicLink())
    return objectIdOf('blob', readlinkSync(location, { encoding: 'buffer' }))
  const read = readStable(typeof location === 'string' ? location : location.toString('latin1'))
  return typeof read === 'string' ? undefined : objectIdOf('blob', read.content)
}
