// The folder that a scan is visiting, and checks that need no access to the file system.
import type { BytePath } from '../../../model/index.js'
import { type FolderNode, isCaptured, type Node, type SkippedNode } from '../stat-cache/node.js'
import {
  type Listed,
  type ListedType,
  type ListFault,
  listVerified,
  VANISHED,
} from './list-folder.js'
import type { Context, Location } from './selection.js'
import { asidePrefix, type CaptureTarget } from '../capture-target.js'
import { isSameStamp, isStampStable, lstat, setStamp, type Stats } from '../stat-cache/stats.js'

/** A child of a folder that still exists. */
export type Refreshed = {
  readonly stats: SeenStats
  readonly absolute: string
  readonly visit: Visit
}

export type Outer = {
  readonly folder: FolderNode
  readonly location: Location
  readonly context: Context
}
export type Visit = Outer & {
  /** Whether a node in the folder is known to be unchanged, from the stat thread or from the watch. */
  readonly isSame: (node: Node) => boolean
}
export type Item = Location & { readonly name: BytePath; readonly type: ListedType }

/** The walk through the folders is recursive and the stack is limited, so deeper folders are skipped. */
const MAX_FOLDER_LEVELS = 500

export function isTooDeep(path: BytePath): boolean {
  // Cheap test first: few paths are long enough to count their levels.
  return path.length >= 2 * MAX_FOLDER_LEVELS && path.split('/').length > MAX_FOLDER_LEVELS
}

/** Known to be unchanged without an lstat. */
export const SAME = 'same'
export type SeenStats = Stats | typeof SAME

export function dependsOnChangedIndex({ folder, context }: Outer): boolean {
  if (context.tracking?.hasChanged !== true) return false
  return folder.children.some((child) =>
    child.kind === 'skipped'
      ? child.reason === 'ignored' || child.reason === 'secret'
      : child.viaIndex,
  )
}

/** The decisions in the cached folder were made by the current rules and index. */
export function isDecisionCurrent({ folder, context }: Omit<Outer, 'location'>): boolean {
  return folder.rulesKey === context.rules.key && context.tracking?.hasChanged !== true
}

/** The file's content was a secret and the file is unchanged, so it is not read again. */
export function isKnownSecret(node: SkippedNode, stats: Stats): boolean {
  return node.reason === 'secret' && node.isStable && isSameStamp(node, stats)
}

/** Skipped because of its size or content, so the reason persists until the file changes. */
export function dependsOnContent({ reason }: SkippedNode): boolean {
  return reason === 'too-large' || reason === 'secret'
}

/** The watch on the folder has just begun, so a change since `seen` may have had no event. */
export function restat(folder: FolderNode, { absolute }: Location, seen: SeenStats): SeenStats {
  const stats = lstat(absolute)
  if (stats !== undefined && stats !== 'unreadable' && stats.isDirectory()) return stats
  folder.isStable = false
  return seen
}

/** Undefined if there are none, as in every folder of a first save. */
export function indexByName(nodes: readonly Node[]): ReadonlyMap<BytePath, Node> | undefined {
  return nodes.length === 0 ? undefined : new Map(nodes.map((node) => [node.name, node]))
}

export function hasLostChild(before: readonly Node[], remaining: ReadonlySet<Node>): boolean {
  return before.some((child) => isCaptured(child) && !remaining.has(child))
}

/** Lists a folder and updates its stamp. */
export function listNode(
  folder: FolderNode,
  absolute: string,
  { stats, target }: { readonly stats: SeenStats; readonly target: CaptureTarget },
): Listed | ListFault {
  const listedAtMs = Date.now()
  const found = listVerified(absolute, (stats === SAME ? folder : stats).ino)
  if (typeof found === 'string') return found
  const listed = withoutAsides(found, target)
  if (stats !== SAME) setStamp(folder, stats)
  // A parent folder may have been moved away briefly, which leaves no trace on this one.
  folder.isStable = found !== VANISHED && found === listed && isStampStable(folder, listedAtMs)
  return listed
}

/** Removes the files that the current rewind has moved aside; returns the same list if there are none. */
function withoutAsides(listed: Listed, { rewinding }: CaptureTarget): Listed {
  if (rewinding === undefined) return listed
  const prefix = asidePrefix(rewinding)
  const others = [...listed].filter(([name]) => !name.startsWith(prefix))
  return others.length === listed.size ? listed : new Map(others)
}

/** The type that a listing of the parent folder would give, as far as a decision needs it. */
export function typeAt(absolute: string): ListedType {
  const stats = lstat(absolute)
  const isFolder = stats !== undefined && stats !== 'unreadable' && stats.isDirectory()
  return isFolder ? 'folder' : 'other'
}
