// What a rewind would do, as data. Pure: the same two maps always give the same plan.
import { type BytePath, isInside, parentOf } from './byte-path.js'
import { type Entry, SKIP_REASONS, sameEntry, type Uncaptured } from './entry.js'

/** Paths that may be left out of both maps are those that are equal in both. */
export type Present = ReadonlyMap<BytePath, Entry | Uncaptured>
export type Target = ReadonlyMap<BytePath, Entry>

export type PlannedWrite = {
  readonly path: BytePath
  readonly to: Entry
  /** What the safety checkpoint holds there; undefined where nothing is. */
  readonly from: Entry | undefined
}
export type PlannedRemoval = { readonly path: BytePath; readonly from: Entry }
export type Left = { readonly path: BytePath; readonly reason: string }

export type RestorePlan = {
  readonly write: readonly PlannedWrite[]
  readonly remove: readonly PlannedRemoval[]
  /** Stays although the checkpoint does not have it. */
  readonly keep: readonly Left[]
  /** Makes the rewind impossible: what stands there is in no checkpoint (I3, I5). */
  readonly conflict: readonly Left[]
}

export type Scope = {
  /** Whether the rewind may touch this path. */
  readonly includes: (path: BytePath) => boolean
  /** Why a path that the checkpoint lacks must stay, if it must: it was there then, uncaptured. */
  readonly uncapturedThen: (path: BytePath, isFolder: boolean) => string | undefined
}

export function planRestore(now: Present, then: Target, scope: Scope): RestorePlan {
  const write = new Map<BytePath, PlannedWrite>()
  const conflict = new Map<BytePath, string>()
  for (const [path, to] of then) {
    if (scope.includes(path)) planWrite({ now, target: then, write, conflict }, path, to)
  }
  const { remove, keep, staying } = planRemovals(now, then, scope)
  for (const { path, from, to } of write.values()) {
    if (from?.type !== 'folder' || to.type === 'folder') continue
    for (const [inside, reason] of staying) {
      if (inside !== path && isInside(inside, path)) conflict.set(inside, reason)
    }
  }
  return {
    write: [...write.values()].sort(byPath),
    remove,
    keep: left(keep),
    conflict: left(conflict),
  }
}

type Draft = {
  readonly now: Present
  readonly target: Target
  readonly write: Map<BytePath, PlannedWrite>
  readonly conflict: Map<BytePath, string>
}

function planWrite(draft: Draft, path: BytePath, to: Entry): void {
  const from = draft.now.get(path)
  if (from?.type === 'uncaptured') {
    if (to.type === 'folder' && from.isFolder) return
    draft.conflict.set(path, uncapturedText(from))
    return
  }
  if (from !== undefined && sameEntry(from, to)) return
  planFoldersAbove(draft, path)
  draft.write.set(path, { path, to, from })
}

/** A rewind limited to some paths still needs the folders above them. */
function planFoldersAbove(draft: Draft, path: BytePath): void {
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) {
    const from = draft.now.get(folder)
    const to = draft.target.get(folder)
    if (from?.type === 'uncaptured' && !from.isFolder)
      draft.conflict.set(folder, uncapturedText(from))
    if (to === undefined || from?.type === 'folder' || from?.type === 'uncaptured') return
    draft.write.set(folder, { path: folder, to, from })
  }
}

function planRemovals(now: Present, then: Target, scope: Scope) {
  const remove: PlannedRemoval[] = []
  const keep = new Map<BytePath, string>()
  const staying = new Map<BytePath, string>()
  const occupied = new Set<BytePath>()

  const stays = (path: BytePath, reason: string) => {
    staying.set(path, reason)
    for (let folder = parentOf(path); !occupied.has(folder); folder = parentOf(folder)) {
      occupied.add(folder)
    }
  }
  // Deepest first, so that a folder is judged after all it holds.
  for (const path of [...now.keys()].sort().reverse()) {
    const from = now.get(path)
    if (from === undefined) continue
    if (from.type === 'uncaptured') {
      stays(path, uncapturedText(from))
      continue
    }
    if (then.has(path)) continue
    if (!scope.includes(path)) {
      stays(path, 'not part of this rewind')
      continue
    }
    const isFolder = from.type === 'folder'
    const reason =
      scope.uncapturedThen(path, isFolder) ??
      (isFolder && occupied.has(path) ? 'holds something that is not removed' : undefined)
    if (reason === undefined) {
      remove.push({ path, from })
      continue
    }
    keep.set(path, reason)
    stays(path, reason)
  }
  return { remove, keep, staying }
}

function uncapturedText(entry: Uncaptured): string {
  return `not captured: ${SKIP_REASONS[entry.reason]}`
}

function byPath(a: PlannedWrite, b: PlannedWrite): number {
  return a.path < b.path ? -1 : 1
}

function left(reasons: ReadonlyMap<BytePath, string>): Left[] {
  return [...reasons]
    .map(([path, reason]) => ({ path, reason }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}
