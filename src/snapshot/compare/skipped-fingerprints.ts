// Fingerprints of the entries that a capture skipped, to notice that a tool call changed them. A skipped folder is one entry:
// its contents are not read, so only added or removed names directly in it are noticed (docs/reference/limits.md).
import { lstatSync } from 'node:fs'
import { type BytePath, fsPath, hasCode, type Skipped, type SkipReason } from '../../model/index.js'
import { absolute } from '../capture/capture-target.js'

export type SkippedPrint = {
  readonly path: BytePath
  readonly reason: SkipReason
  readonly isFolder: boolean
  /** Equal as long as inode, size and mtime are. */
  readonly print: string
}

export type SkippedPrints = {
  /** In the order of compareSkipped, without gaps. */
  readonly prints: readonly SkippedPrint[]
  /** False if there were more entries than MAX_PRINTS: entries after the last one are unknown. */
  readonly isComplete: boolean
}

/** Entries with the user's data. The others belong to git or to us, or cannot be read. */
const REASONS: readonly SkipReason[] = ['too-large', 'secret', 'ignored']
/** Each takes a few microseconds, in a hook that takes tens of milliseconds. */
const MAX_PRINTS = 200

export function printSkipped(root: BytePath, skipped: readonly Skipped[]): SkippedPrints {
  const kept = skipped.filter(({ reason }) => REASONS.includes(reason)).sort(compareSkipped)
  const prints = kept.slice(0, MAX_PRINTS).flatMap(({ path, reason }) => {
    const found = printOf(absolute({ root }, path))
    return found === undefined ? [] : [{ path, reason, ...found }]
  })
  return { prints, isComplete: kept.length <= MAX_PRINTS }
}

/** Entries near the root first: an `.env` matters more than the caches of packages. */
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
