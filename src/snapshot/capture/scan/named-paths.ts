// Adds paths to a capture that its rules left out, because a checkpoint to be compared with or restored names them (I3).
// The nodes of the capture itself stay as they are: the stat cache and the watch know nothing of named paths. Folders on
// the way are copied, everything else is shared. See docs/internals/rewind-and-rules.md.
import { type BytePath, joinPath, ROOT, type SkipReason } from '../../../model/index.js'
import { type SnapshotParts, TreeBuilder } from '../build-snapshot.js'
import { Hasher, type HasherOptions } from '../hash/hasher.js'
import { listVerified } from './list-folder.js'
import {
  byTreeOrder,
  type FolderNode,
  isCaptured,
  newContent,
  newFolder,
  newSkipped,
  type Node,
  type SkippedNode,
} from '../stat-cache/node.js'
import type { PackedNodes } from '../stat-cache/packed-nodes.js'
import type { Pending } from './scan-types.js'
import { neverCaptured } from './selection.js'
import { absolute, type Site } from '../capture-target.js'
import { isSettled, lstat, permissionsOf, type Stats, setStamp } from '../stat-cache/stats.js'

/** Rules that a named path overrides. A path that is skipped for another reason cannot be captured at all. */
const OVERRIDDEN: readonly SkipReason[] = ['ignored', 'secret', 'too-large']
/** The copies are dropped with the next capture, so no capture has to know when they were stored. */
const NO_EPOCH = 0
/** A secret that a checkpoint names is captured, too. */
const ALLOW_ALL = { rules: { allowsSecret: () => true } }

export type WithNamed = {
  readonly root: FolderNode
  /** Contents to be read. */
  readonly pending: readonly Pending[]
}

/** The named names in a folder, and below each of them. */
type Wanted = { isNamed: boolean; readonly inside: Map<string, Wanted> }

/** Undefined if no named path exists that was left out. */
export function addNamedPaths(
  root: FolderNode,
  { site, paths }: { readonly site: Site; readonly paths: readonly BytePath[] },
): WithNamed | undefined {
  const pending: Pending[] = []
  const copy = copyFolder(root, { wanted: wantedOf(paths), path: ROOT })
  return copy === root ? undefined : { root: copy, pending }

  /** The folder itself if nothing in it was left out that is named. */
  function copyFolder(folder: FolderNode, at: At): FolderNode {
    const copy = copyOf(folder)
    const children = folder.children.map((child) => {
      const inner = inside(at, child.name)
      if (inner === undefined) return child
      if (child.kind === 'folder') return copyFolder(child, inner)
      if (child.kind !== 'skipped' || !OVERRIDDEN.includes(child.reason)) return child
      return capture(child, { ...inner, folder: copy })
    })
    if (children.every((child, n) => child === folder.children[n])) return folder
    copy.children = children.sort(byTreeOrder)
    return copy
  }

  /** The node of a path that was left out; the same one if nothing named is there. */
  function capture(skipped: SkippedNode, at: At & { readonly folder: FolderNode }): Node {
    const { name } = skipped
    const place = absolute(site, at.path)
    const stats = lstat(place)
    if (stats === undefined) return skipped
    if (stats === 'unreadable') return newSkipped(name, { reason: 'unreadable', isFolder: false })
    if (stats.isDirectory()) return captureFolder(skipped, { ...at, stats })
    if (!at.wanted.isNamed) return skipped
    const kind = stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : undefined
    if (kind === undefined) return newSkipped(name, { reason: 'special', isFolder: false })
    const node = newContent(name, { kind, viaIndex: false })
    setStamp(node, stats)
    node.mode = permissionsOf(stats)
    const { folder } = at
    pending.push({
      node,
      folder,
      path: place,
      isUnseen: false,
      before: undefined,
      context: ALLOW_ALL,
    })
    return node
  }

  function captureFolder(skipped: SkippedNode, at: At & { readonly stats: Stats }): Node {
    const { name, reason } = skipped
    const listedAtMs = Date.now()
    const listed = listVerified(absolute(site, at.path), at.stats.ino)
    if (typeof listed === 'string') return newSkipped(name, { reason: listed, isFolder: true })
    const folder = newFolder(name, { viaIndex: false })
    setStamp(folder, at.stats)
    folder.mode = permissionsOf(at.stats)
    folder.settled = isSettled(folder, listedAtMs)
    folder.children = [...listed]
      .map(([inner, type]) => {
        const path = joinPath(at.path, inner)
        const never = neverCaptured({ name: inner, type, absolute: absolute(site, path) }, site)
        const left = newSkipped(inner, { reason: never ?? reason, isFolder: type === 'folder' })
        const wanted = at.wanted.inside.get(inner)
        if (never !== undefined || wanted === undefined) return left
        return capture(left, { wanted, path, folder })
      })
      .sort(byTreeOrder)
    return at.wanted.isNamed || folder.children.some(isCaptured) ? folder : skipped
  }
}

/** Reads the contents, whatever their size, and builds the trees. What cannot be read is skipped. */
export async function storeNamed(
  { root, pending }: WithNamed,
  {
    packed,
    ...options
  }: Omit<HasherOptions, 'maxFileBytes' | 'onProgress'> & {
    /** Where the nodes are that no scan has visited. */
    readonly packed: PackedNodes | undefined
  },
): Promise<SnapshotParts> {
  const { sink } = options
  const hasher = new Hasher({ ...options, maxFileBytes: Infinity, onProgress: () => undefined })
  try {
    for (const item of pending) hasher.add(item)
    await hasher.finish(() => undefined)
    const parts = new TreeBuilder(root, sink, NO_EPOCH).finish(undefined, packed)
    await sink.finish()
    return parts
  } catch (error) {
    sink.abandon()
    throw error
  } finally {
    hasher.close()
  }
}

type At = { readonly wanted: Wanted; readonly path: BytePath }

function inside({ wanted, path }: At, name: BytePath): At | undefined {
  const inner = wanted.inside.get(name)
  return inner === undefined ? undefined : { wanted: inner, path: joinPath(path, name) }
}

function wantedOf(paths: readonly BytePath[]): Wanted {
  const root: Wanted = { isNamed: false, inside: new Map() }
  for (const path of paths) {
    let at = root
    for (const name of path.split('/')) {
      let next = at.inside.get(name)
      if (next === undefined) {
        next = { isNamed: false, inside: new Map() }
        at.inside.set(name, next)
      }
      at = next
    }
    at.isNamed = true
  }
  return root
}

/** Without its children, and to be built again. */
function copyOf(folder: FolderNode): FolderNode {
  const copy = newFolder(folder.name, { viaIndex: folder.viaIndex })
  const { size, mtimeNs, ctimeNs, ino, mode, owner, settled, rulesKey, hasRuleFiles } = folder
  const stamp = { size, mtimeNs, ctimeNs, ino, mode, owner }
  return Object.assign(copy, stamp, { settled, rulesKey, hasRuleFiles })
}
