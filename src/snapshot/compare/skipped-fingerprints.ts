// Fingerprints of the entries that a capture skipped, to notice that a tool call changed them. A skipped folder is one
// entry: nothing in it is read, so only changes of its own list of names are seen (docs/limits.md).
import { lstatSync } from 'node:fs'
import { type BytePath, fsPath, hasCode, type Skipped, type SkipReason } from '../../model/index.js'
import { absolute } from '../capture/capture-target.js'

export type SkippedPrint = {
  readonly path: BytePath
  readonly reason: SkipReason
  readonly isFolder: boolean
  /** Equal as long as inode, size and time of the last change are. */
  readonly print: string
}

export type SkippedPrints = {
  /** In the order of compareSkipped, without a gap. */
  readonly prints: readonly SkippedPrint[]
  /** False if there were more entries than are fingerprinted: one behind the last may be there. */
  readonly isComplete: boolean
}

/** Entries that hold something of the user's. Others are git's, ours, or cannot be read anyway. */
const REASONS: readonly SkipReason[] = ['too-large', 'secret', 'ignored']
/** A few microseconds each, in a hook that takes tens of milliseconds. */
const MAX_PRINTS = 200

export function printSkipped(root: BytePath, skipped: readonly Skipped[]): SkippedPrints {
  const kept = skipped.filter(({ reason }) => REASONS.includes(reason)).sort(compareSkipped)
  const prints = kept.slice(0, MAX_PRINTS).flatMap(({ path, reason }) => {
    const found = printOf(absolute({ root }, path))
    return found === undefined ? [] : [{ path, reason, ...found }]
  })
  return { prints, isComplete: kept.length <= MAX_PRINTS }
}

/** Entries near the root first: an `.env` matters more than the caches of each package. */
export function compareSkipped(
  a: { readonly path: BytePath },
  b: { readonly path: BytePath },
): number {
  const depth = depthOf(a.path) - depthOf(b.path)
  if (depth !== 0) return depth
  return a.path < b.path ? -1 : a.path > b.path ? 1 : 0
}

function depthOf(path: BytePath): number {
  return path.split('/').length
}

export function hasEntry(root: BytePath, path: BytePath): boolean {
  return printOf(absolute({ root }, path)) !== undefined
}

function printOf(path: BytePath): Pick<SkippedPrint, 'isFolder' | 'print'> | undefined {
  try {
    const stats = lstatSync(fsPath(path), { bigint: true, throwIfNoEntry: false })
    if (stats === undefined) return undefined
    const isFolder = stats.isDirectory()
    const size = isFolder ? '' : stats.size.toString(36)
    return {
      isFolder,
      print: `${stats.ino.toString(36)}.${size}.${stats.mtimeNs.toString(36)}`,
    }
  } catch (error) {
    if (hasCode(error, 'EACCES', 'ENOTDIR', 'ELOOP')) return undefined
    throw error
  }
}
