// A folder that a scan is looking at, and what can be said of it beforehand.
import type { BytePath } from '../../../model/index.js'
import { type FolderNode, isCaptured, type Node, type SkippedNode } from '../stat-cache/node.js'
import type { Listed, ListedType } from './list-folder.js'
import type { Context, Place } from './selection.js'
import { asidePrefix, type Site } from '../capture-target.js'
import { isSameStamp, lstat, type Stats } from '../stat-cache/stats.js'

/** A child of a folder that is still there. */
export type Refreshed = {
  readonly stats: Looked
  readonly absolute: string
  readonly visit: Visit
}

export type Outer = {
  readonly folder: FolderNode
  readonly place: Place
  readonly context: Context
}
export type Visit = Outer & {
  /** Whether a node in the folder is surely unchanged: somebody has looked, or would have been told. */
  readonly isSame: (node: Node) => boolean
}
export type Item = Place & { readonly name: BytePath; readonly type: ListedType }

/** Every way through the folders goes down by calling itself, and no stack is endless: what is deeper is left out. */
const MAX_FOLDER_LEVELS = 500

export function isTooDeep(path: BytePath): boolean {
  // Hardly any path is so long that its levels have to be counted.
  return path.length >= 2 * MAX_FOLDER_LEVELS && path.split('/').length > MAX_FOLDER_LEVELS
}

/** Surely unchanged, so that nobody looked. */
export const SAME = 'same'
export type Looked = Stats | typeof SAME

export function hangsOnChangedIndex({ folder, context }: Outer): boolean {
  if (context.tracking?.hasChanged !== true) return false
  return folder.children.some((child) =>
    child.kind === 'skipped'
      ? child.reason === 'ignored' || child.reason === 'secret'
      : child.viaIndex,
  )
}

/** What is known of the folder was decided by the rules and the index that hold now. */
export function isDecided({ folder, context }: Outer): boolean {
  return folder.rulesKey === context.rules.key && context.tracking?.hasChanged !== true
}

/** Found to be a secret when it was read, and unchanged since: it is not read again. */
export function isKnownSecret(node: SkippedNode, stats: Stats): boolean {
  return node.reason === 'secret' && node.settled && isSameStamp(node, stats)
}

/** Left out for what it is, which cannot end without the file changing. */
export function liesInFile({ reason }: SkippedNode): boolean {
  return reason === 'too-large' || reason === 'secret'
}

/** It is watched from now on, so what was seen before may have changed without anybody being told. */
export function lookAgain(folder: FolderNode, { absolute }: Place, seen: Looked): Looked {
  const stats = lstat(absolute)
  if (stats !== undefined && stats !== 'unreadable' && stats.isDirectory()) return stats
  folder.settled = false
  return seen
}

/** Undefined where there are none, as in every folder of a first save. */
export function byName(nodes: readonly Node[]): ReadonlyMap<BytePath, Node> | undefined {
  return nodes.length === 0 ? undefined : new Map(nodes.map((node) => [node.name, node]))
}

export function hasLostAny(before: readonly Node[], remaining: ReadonlySet<Node>): boolean {
  return before.some((child) => isCaptured(child) && !remaining.has(child))
}

/** Without the files that a rewind under way has moved aside; the same list where there are none. */
export function withoutAsides(listed: Listed, { rewinding }: Site): Listed {
  if (rewinding === undefined) return listed
  const prefix = asidePrefix(rewinding)
  const others = [...listed].filter(([name]) => !name.startsWith(prefix))
  return others.length === listed.size ? listed : new Map(others)
}

/** As a listing of the folder above would say it, as far as a decision needs it. */
export function typeAt(absolute: string): ListedType {
  const stats = lstat(absolute)
  const isFolder = stats !== undefined && stats !== 'unreadable' && stats.isDirectory()
  return isFolder ? 'folder' : 'other'
}
