// The two maps that a restore plan is made from: what is there now, with everything uncaptured that could
// be in the way, and what the checkpoint holds. Equal paths are in neither.
import { lstatSync } from 'node:fs'
import {
  type BytePath,
  type Entry,
  fsPath,
  hasCode,
  joinPath,
  type ObjectId,
  parentOf,
  ROOT,
  type SkipReason,
  type Uncaptured,
} from '../../model/index.js'
import { childOf, type FolderNode, findNode, type Node } from '../capture/node.js'
import { readLink, readStable } from '../capture/read-file.js'
import { absolute, type Site } from '../capture/site.js'
import { isUnreadable } from '../capture/stats.js'
import type { Change } from '../compare.js'
import { objectIdOf } from '../objects/object-id.js'

export type RestoreMaps = {
  readonly now: Map<BytePath, Entry | Uncaptured>
  readonly target: Map<BytePath, Entry>
}

export function restoreMaps(changes: readonly Change[], site: Site, root: FolderNode): RestoreMaps {
  const now = new Map<BytePath, Entry | Uncaptured>()
  const target = new Map<BytePath, Entry>()
  for (const { path, before, after } of changes) {
    if (before !== undefined) now.set(path, before)
    if (after !== undefined) target.set(path, after)
  }
  for (const { path, before, after } of changes) {
    if (before?.type === 'folder' && after?.type !== 'folder') addSkippedInside(path)
    if (before === undefined && after !== undefined) addObstacle(path, after)
  }
  return { now, target }

  /** A folder that is to go may hold what is not captured. */
  function addSkippedInside(path: BytePath): void {
    const folder = findNode(root, path)
    if (folder?.kind !== 'folder') return
    for (const child of folder.children) {
      if (child.kind !== 'skipped') continue
      const { reason, isFolder } = child
      now.set(joinPath(path, child.name), { type: 'uncaptured', reason, isFolder })
    }
  }

  /** Something uncaptured may stand where the checkpoint has something. */
  function addObstacle(path: BytePath, after: Entry): void {
    const reason = uncapturedAbove(root, path)
    if (reason === undefined) return
    // Nothing below an uncaptured folder was looked at, so each level is looked at now.
    for (let level = path; level !== ROOT && !now.has(level); level = parentOf(level)) {
      const found = look(site, level)
      if (found === undefined) continue
      if (level === path && found.id !== undefined && isAlready(found, after)) {
        target.delete(path)
        continue
      }
      if (findNode(root, level)?.kind === 'folder') return
      now.set(level, { type: 'uncaptured', reason, isFolder: found.isFolder })
    }
  }
}

/** Why the nearest known node at or above a path was skipped, if it was. */
function uncapturedAbove(root: FolderNode, path: BytePath): SkipReason | undefined {
  let node: Node | undefined = root
  for (const name of path.split('/')) {
    if (node.kind !== 'folder') break
    const inner: Node | undefined = childOf(node, name)
    if (inner === undefined) return undefined
    node = inner
  }
  return node.kind === 'skipped' ? node.reason : undefined
}

type Found = {
  readonly isFolder: boolean
  readonly id: ObjectId | undefined
  readonly mode: number
  readonly isLink: boolean
}

function look(site: Site, path: BytePath): Found | undefined {
  const place = absolute(site, path)
  try {
    const stats = lstatSync(fsPath(place))
    const isLink = stats.isSymbolicLink()
    const content = isLink
      ? readLink(place)
      : stats.isFile() && stats.size <= site.limits.maxFileBytes
        ? readStable(place)
        : 'gone'
    const bytes =
      typeof content === 'string' ? undefined : Buffer.isBuffer(content) ? content : content.content
    const id = bytes === undefined ? undefined : objectIdOf('blob', bytes)
    return { isFolder: stats.isDirectory(), id, mode: stats.mode & 0o7777, isLink }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR')) return undefined
    // Something may be there, behind a folder that does not let us in.
    if (isUnreadable(error)) return { isFolder: false, id: undefined, mode: 0, isLink: false }
    throw error
  }
}

/** What stands there is, to the byte, what the rewind would write. */
function isAlready(found: Found, after: Entry): boolean {
  if (after.type === 'file')
    return !found.isLink && found.id === after.blob && found.mode === after.mode
  return after.type === 'link' && found.isLink && found.id === after.blob
}
