// Adds paths to a capture that its rules skipped, because the checkpoint to compare or restore contains them (I3). The
// nodes of the capture stay unchanged: the stat cache and the watch ignore named paths. Folders on the way are copied,
// all other nodes are shared. See docs/internals/rewind-and-rules.md.
import { type BytePath, joinPath, ROOT, type SkipReason } from '../../../model/index.js'
import { type SnapshotParts, TreeBuilder } from '../build-snapshot.js'
import { Hasher, type HasherOptions } from '../hash/hasher.js'
import { listVerified } from './list-folder.js'
import {
  byTreeOrder,
  isCaptured,
  ContentNode,
  FolderNode,
  SkippedNode,
  type Node,
} from '../stat-cache/node.js'
import type { PackedNodes } from '../stat-cache/packed-nodes.js'
import type { Pending } from './scan-types.js'
import { neverCaptured } from './selection.js'
import { absolute, type CaptureTarget } from '../capture-target.js'
import {
  contentKind,
  isStampStable,
  lstat,
  permissionsOf,
  type Stats,
  setStamp,
} from '../stat-cache/stats.js'

/** Reasons that a named path overrides. A path skipped for another reason cannot be captured. */
const OVERRIDDEN: readonly SkipReason[] = ['ignored', 'secret', 'too-large']
/** The next capture drops the copies, so their epoch is never compared. */
const NO_EPOCH = 0
const ALLOW_ALL = { rules: { allowsSecret: () => true } }

export type WithNamed = {
  readonly root: FolderNode
  readonly pending: readonly Pending[]
}

/** The named paths as a tree. */
type Wanted = { isNamed: boolean; readonly inside: Map<string, Wanted> }

/** Undefined if no skipped path that is named exists. */
export function addNamedPaths(
  root: FolderNode,
  { target, paths }: { readonly target: CaptureTarget; readonly paths: readonly BytePath[] },
): WithNamed | undefined {
  const pending: Pending[] = []
  const copy = copyFolder(root, { wanted: buildWanted(paths), path: ROOT })
  return copy === root ? undefined : { root: copy, pending }

  /** Returns the folder itself if it contains no skipped path that is named. */
  function copyFolder(folder: FolderNode, at: At): FolderNode {
    const copy = copyWithoutChildren(folder)
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

  /** The new node of a skipped path; the same node if nothing named exists there. */
  function capture(skipped: SkippedNode, at: At & { readonly folder: FolderNode }): Node {
    const { name } = skipped
    const location = absolute(target, at.path)
    const stats = lstat(location)
    if (stats === undefined) return skipped
    if (stats === 'unreadable')
      return new SkippedNode(name, { reason: 'unreadable', isFolder: false })
    if (stats.isDirectory()) return captureFolder(skipped, { ...at, stats })
    if (!at.wanted.isNamed) return skipped
    const kind = contentKind(stats)
    if (kind === undefined) return new SkippedNode(name, { reason: 'special', isFolder: false })
    const node = new ContentNode(name, { kind, viaIndex: false })
    setStamp(node, stats)
    node.mode = permissionsOf(stats)
    const { folder } = at
    const context = ALLOW_ALL
    pending.push({ node, folder, path: location, isUnseen: false, before: undefined, context })
    return node
  }

  function captureFolder(skipped: SkippedNode, at: At & { readonly stats: Stats }): Node {
    const { name, reason } = skipped
    const listedAtMs = Date.now()
    const listed = listVerified(absolute(target, at.path), at.stats.ino)
    if (typeof listed === 'string') return new SkippedNode(name, { reason: listed, isFolder: true })
    const folder = new FolderNode(name, { viaIndex: false })
    setStamp(folder, at.stats)
    folder.mode = permissionsOf(at.stats)
    folder.isStable = isStampStable(folder, listedAtMs)
    folder.children = [...listed]
      .map(([inner, type]) => {
        const path = joinPath(at.path, inner)
        const never = neverCaptured({ name: inner, type, absolute: absolute(target, path) }, target)
        const left = new SkippedNode(inner, {
          reason: never ?? reason,
          isFolder: type === 'folder',
        })
        const wanted = at.wanted.inside.get(inner)
        if (never !== undefined || wanted === undefined) return left
        return capture(left, { wanted, path, folder })
      })
      .sort(byTreeOrder)
    return at.wanted.isNamed || folder.children.some(isCaptured) ? folder : skipped
  }
}

/** Reads the contents, without a size limit, and builds the trees. Unreadable files are skipped. */
export async function storeNamed(
  { root, pending }: WithNamed,
  {
    packed,
    ...options
  }: Omit<HasherOptions, 'maxFileBytes' | 'onProgress'> & {
    /** Nodes that no scan has visited. */
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

function buildWanted(paths: readonly BytePath[]): Wanted {
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

/** The copy has no id, so its tree is built again. */
function copyWithoutChildren(folder: FolderNode): FolderNode {
  const copy = new FolderNode(folder.name, { viaIndex: folder.viaIndex })
  const { size, mtimeNs, ctimeNs, ino, mode, owner, isStable, rulesKey, hasRuleFiles } = folder
  const stamp = { size, mtimeNs, ctimeNs, ino, mode, owner }
  return Object.assign(copy, stamp, { isStable, rulesKey, hasRuleFiles })
}
