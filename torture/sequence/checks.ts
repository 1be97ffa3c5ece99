// Invariants after every save, rewind, undo and redo, independent of the rules. Each check returns a sentence for each
// violation.
import { type Disk, isInside, isSame, type Item } from './disk.js'
import { BUSY, PLAIN } from './edits.js'

export type Saved = {
  /** Everything in the folder at that time, captured or not. */
  readonly everything: Disk
  /** The part of it in the checkpoint. */
  readonly held: ReadonlyMap<string, Item>
}

/** I9: the checkpoint contains what was on disk, and everything that no rule excludes. */
export function checkSaved(everything: Disk, blobs: ReadonlyMap<string, string>): string[] {
  const faults: string[] = []
  for (const [path, id] of blobs) {
    if (isBusy(path)) continue
    const item = everything.get(path)
    if (item === undefined) faults.push(`holds ${path}, which was not there`)
    else if (item.id !== id) faults.push(`holds another content of ${path}`)
  }
  for (const path of PLAIN) {
    const type = everything.get(path)?.type
    if (type !== undefined && type !== 'special' && !blobs.has(path))
      faults.push(`does not hold ${path}`)
  }
  return faults
}

export type Restored = {
  readonly before: Disk
  readonly after: Disk
  readonly target: Saved
  readonly safety: Saved
  /** The paths that the plan keeps. */
  readonly kept: readonly string[]
  /** The requested paths; all if undefined. */
  readonly paths: readonly string[] | undefined
  /** The user's lines of a file are merged into the version of the target. */
  readonly keepMine: boolean
}

/** The folder after a rewind: the target's content is there (I9), and nothing else was touched or lost (I3, I5). */
export function checkRestored({
  before,
  after,
  target,
  safety,
  kept,
  paths,
  keepMine,
}: Restored): string[] {
  const faults: string[] = []
  const isMerged = (path: string) =>
    keepMine && before.get(path)?.type === 'file' && after.get(path)?.type === 'file'
  const isKept = (path: string) => kept.some((each) => isInside(path, each) || isInside(each, path))
  const isWanted = (path: string) =>
    paths === undefined || paths.some((each) => isInside(path, each))
  // A file is replaced by the parent folder of a requested path.
  const isAbove = (path: string) => paths?.some((each) => isInside(each, path)) === true
  for (const [path, item] of target.held) {
    if (isBusy(path) || !isWanted(path) || isKept(path) || isMerged(path)) continue
    if (!isSame(after.get(path), item)) faults.push(`did not bring back ${path}`)
  }
  for (const [path, item] of before) {
    if (isBusy(path) || isSame(after.get(path), item)) continue
    const wasUncaptured = target.everything.has(path) && !target.held.has(path)
    if (!isWanted(path) && !isAbove(path)) faults.push(`touched ${path}, which was not named`)
    if (!isSame(safety.held.get(path), item)) faults.push(`lost ${path}: it is in no checkpoint`)
    if (wasUncaptured) faults.push(`touched ${path}, which the checkpoint had left out`)
  }
  for (const path of after.keys())
    if (!isBusy(path) && !before.has(path) && !target.held.has(path))
      faults.push(`brought ${path}, which the checkpoint does not hold`)
  return faults
}

/** The paths at which two folders differ, except the busy ones. */
export function differences(one: Disk, other: Disk): string[] {
  return [...new Set([...one.keys(), ...other.keys()])]
    .filter((path) => !isBusy(path) && !isSame(one.get(path), other.get(path)))
    .sort()
}

export function isBusy(path: string): boolean {
  return isInside(path, BUSY)
}
