// Lists the entries that a rewind cannot restore: tool calls changed them since the target, and no checkpoint contains them.
import type { Ledger } from '../../ledger/index.js'
import {
  type BytePath,
  type FilesCheckpoint,
  isInside,
  pathText,
  type SkipReason,
  type UncapturedChange,
} from '../../model/index.js'

export type NotRestored = {
  readonly path: string
  readonly isFolder: boolean
  /** Why no checkpoint contains it. */
  readonly reason: SkipReason
  readonly change: UncapturedChange['change']
  /** The calls that ran meanwhile, and when the change was noticed. */
  readonly by: string
  readonly at: Date
}

/** Each path once, with its last change. `paths`: only these and their contents; undefined for all. */
export function notRestoredSince(
  ledger: Ledger,
  target: FilesCheckpoint,
  paths: readonly BytePath[] | undefined,
): readonly NotRestored[] {
  const found = new Map<BytePath, NotRestored>()
  const isWanted = (path: BytePath) =>
    paths === undefined || paths.some((one) => isInside(path, one) || isInside(one, path))
  for (const { atMs, by, changes } of ledger.checkpoints.uncapturedSince(target)) {
    for (const { path, isFolder, reason, change } of changes) {
      if (found.has(path) || !isWanted(path)) continue
      const at = new Date(atMs)
      found.set(path, { path: pathText(path), isFolder, reason, change, by, at })
    }
  }
  return [...found.values()]
}
