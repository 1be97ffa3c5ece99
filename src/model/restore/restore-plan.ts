// Plans a rewind as data. Pure: the same two maps always give the same plan.
import { type BytePath, isInside, parentOf } from '../byte-path.js'
import { type Entry, SKIP_REASONS, sameEntry, type Uncaptured } from '../entry.js'

/** Paths that are equal in both maps may be left out. */
export type Present = ReadonlyMap<BytePath, Entry | Uncaptured>
export type Target = ReadonlyMap<BytePath, Entry>

export type PlannedWrite = {
  readonly path: BytePath
  readonly to: Entry
  /** The content in the safety checkpoint; undefined if there is nothing. */
  readonly from: Entry | undefined
}
export type PlannedRemoval = { readonly path: BytePath; readonly from: Entry }
export type Left = { readonly path: BytePath; readonly reason: string }

export type RestorePlan = {
  readonly write: readonly PlannedWrite[]
  readonly remove: readonly PlannedRemoval[]
  /** Stays although the checkpoint does not contain it. */
  readonly keep: readonly Left[]
  /** Blocks the rewind: the content at this path is in no checkpoint (I3, I5). */
  readonly conflict: readonly Left[]
}

export function changesNothing({ write, remove }: RestorePlan): boolean {
  return write.length === 0 && remove.length === 0
}

export type Scope = {
  readonly includes: (path: BytePath) => boolean
  /** Why a path that the checkpoint lacks must stay: it existed then, uncaptured. Undefined if it may go. */
  readonly uncapturedThen: (path: BytePath, isFolder: boolean) => string | undefined
  /** Paths that the user has changed and wants to keep. */
  readonly leave?: ReadonlySet<BytePath> | undefined
}

/** The reason for keeping a path that the user has changed. */
export const CHANGED_BY_USER = 'changed by you'

/** The reason for keeping a file: the version in the checkpoint lacks our hooks. */
export const HAS_HOOKS = 'has the hooks of Savestate'
const HOLDS_KEPT = 'contains something that is not removed'

/** The reason for keeping a folder that cannot be compared. */
export const NOT_READABLE = `not captured: ${SKIP_REASONS.unreadable}`

export function planRestore(now: Present, then: Target, requested: Scope): RestorePlan {
  const mine = pathsLeft(now, then, requested)
  const includes = (path: BytePath) => requested.includes(path) && !mine.has(path)
  const scope = { ...requested, includes }
  const write = new Map<BytePath, PlannedWrite>()
  const conflict = new Map<BytePath, string>()
  const unread = new Map<BytePath, string>()
  for (const [path, to] of then) {
    if (scope.includes(path)) planWrite({ now, target: then, write, conflict, unread }, path, to)
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
    keep: sortByPath(new Map([...unread, ...keep, ...mine])),
    conflict: sortByPath(conflict),
  }
}

/** The paths that must stay so that the user's paths stay as they are, with reasons. */
function pathsLeft(
  now: Present,
  then: Target,
  { leave = new Set(), includes }: Scope,
): ReadonlyMap<BytePath, string> {
  const mine = [...leave].filter((path) => (now.has(path) || then.has(path)) && includes(path))
  const reasons = new Map(mine.map((path) => [path, CHANGED_BY_USER]))
  const files = new Set(mine.filter((path) => isNoFolder(now.get(path))))
  if (files.size === 0 && mine.every((path) => !now.has(path))) return reasons
  // A file of the user blocks everything below its path.
  for (const path of then.keys())
    if (foldersAbove(path).some((folder) => files.has(folder)))
      reasons.set(path, 'a file changed by you is in the way')
  for (const path of mine.filter((each) => now.has(each)))
    for (const folder of foldersAbove(path))
      if (isNoFolder(then.get(folder))) reasons.set(folder, 'contains something changed by you')
  return reasons
}

function isNoFolder(entry: Entry | Uncaptured | undefined): boolean {
  return entry !== undefined && entry.type !== 'folder' && entry.type !== 'uncaptured'
}

function foldersAbove(path: BytePath): readonly BytePath[] {
  const folders: BytePath[] = []
  for (let folder = parentOf(path); folder !== ''; folder = parentOf(folder)) folders.push(folder)
  return folders
}

/** The plan without these files, which stay as they are, together with the folders above them. */
export function keepInPlan(
  plan: RestorePlan,
  files: readonly BytePath[],
  reason: string,
): RestorePlan {
  const kept = new Map(files.map((path) => [path, reason]))
  const isAbove = (path: BytePath) => files.some((file) => file !== path && isInside(file, path))
  for (const { path } of plan.remove) if (isAbove(path)) kept.set(path, HOLDS_KEPT)
  const isLeft = ({ path }: { readonly path: BytePath }) => !kept.has(path)
  // The checkpoint has a file or link in place of a folder above: then the files cannot stay.
  if (plan.write.some(({ path, to }) => to.type !== 'folder' && isAbove(path))) return plan
  return {
    ...plan,
    write: plan.write.filter(isLeft),
    remove: plan.remove.filter(isLeft),
    keep: sortByPath(
      new Map([...plan.keep.map((one) => [one.path, one.reason] as const), ...kept]),
    ),
  }
}

type Draft = {
  readonly now: Present
  readonly target: Target
  readonly write: Map<BytePath, PlannedWrite>
  readonly conflict: Map<BytePath, string>
  readonly unread: Map<BytePath, string>
}

function planWrite(draft: Draft, path: BytePath, to: Entry): void {
  const from = draft.now.get(path)
  if (from?.type === 'uncaptured') {
    if (to.type === 'folder' && from.isFolder) {
      if (from.reason === 'unreadable') draft.unread.set(path, NOT_READABLE)
      return
    }
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
  // Deepest first, so that a folder comes after everything in it.
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
      (isFolder && occupied.has(path) ? HOLDS_KEPT : undefined)
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

function sortByPath(reasons: ReadonlyMap<BytePath, string>): Left[] {
  return [...reasons]
    .map(([path, reason]) => ({ path, reason }))
    .sort((a, b) => (a.path < b.path ? -1 : 1))
}
