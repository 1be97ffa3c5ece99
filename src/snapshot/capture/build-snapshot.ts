// From nodes to the objects of a snapshot: a tree for each folder that changed, the modes, and the tree
// that holds both and is the snapshot's identity.
import {
  type BytePath,
  invariant,
  joinPath,
  MAX_SKIPPED_PATHS,
  type ObjectId,
  type RepositoryNote,
  ROOT,
  type Skipped,
  type SkipReason,
  type Snapshot,
} from '../../model/index.js'
import { headOf } from '../checkout/repository.js'
import { encodeModes, modeClassOf, type CountMode, tabulateModes } from '../objects/modes.js'
import type { ObjectSink } from '../objects/object-store.js'
import { encodeTree, GIT_MODE, type GitMode, type TreeEntry } from '../objects/tree.js'
import { type FolderNode, isCaptured, type Node, visitNodes } from './node.js'
import type { Scanned } from './scan.js'
import { isUnreadable } from './stats.js'

/** Writes what is new; afterwards every folder node has its tree's id. */
function buildTrees(folder: FolderNode, sink: ObjectSink, epoch: number): ObjectId {
  if (folder.id !== undefined) return folder.id
  const entries: TreeEntry[] = []
  for (const child of folder.children) {
    if (!isCaptured(child)) continue
    const id = child.kind === 'folder' ? buildTrees(child, sink, epoch) : child.id
    invariant(id !== undefined, 'a captured file has been hashed')
    entries.push({ mode: gitModeOf(child), name: child.name, id })
  }
  folder.id = sink.add('tree', encodeTree(entries))
  folder.epoch = epoch
  return folder.id
}

export type SnapshotParts = { readonly tree: ObjectId; readonly modes: ObjectId }

/** `modes` is the blob of the last snapshot, if nothing about modes has changed since. */
export function buildSnapshotTree(
  root: FolderNode,
  sink: ObjectSink,
  { epoch, modes: known }: { readonly epoch: number; readonly modes: ObjectId | undefined },
): SnapshotParts {
  const files = buildTrees(root, sink, epoch)
  const modes =
    known ?? sink.add('blob', encodeModes(tabulateModes((count) => countModes(root, count))))
  const tree = encodeTree([
    { mode: GIT_MODE.folder, name: 'files' as BytePath, id: files },
    { mode: GIT_MODE.file, name: 'modes' as BytePath, id: modes },
  ])
  return { tree: sink.add('tree', tree), modes }
}

function countModes(root: FolderNode, count: CountMode): void {
  count('folder', root.mode, () => ROOT)
  visitNodes(root, (node, folder) => {
    if (node.kind === 'skipped' || node.kind === 'link') return
    count(modeClassOf(node.kind, node.mode), node.mode, () => joinPath(folder, node.name))
  })
}

function gitModeOf(node: Node): GitMode {
  if (node.kind === 'folder') return GIT_MODE.folder
  if (node.kind === 'link') return GIT_MODE.link
  invariant(node.kind === 'file', 'what is skipped has no git mode')
  return (node.mode & 0o100) === 0 ? GIT_MODE.file : GIT_MODE.executable
}

// What a person may miss comes first: an ignored folder is no surprise, a file that was too large may be.
const BY_SURPRISE: readonly SkipReason[] = [
  'unreadable',
  'unstable',
  'too-large',
  'reserved',
  'special',
  'temporary',
  'store',
  'ignored',
  'vcs',
]

export function describeSnapshot(
  tree: ObjectId,
  { root, repositories, unreadable }: Scanned,
): Snapshot {
  let fileCount = 0
  let sizeBytes = 0
  const skipped: Skipped[] = unreadable.map((path) => ({
    path,
    reason: 'unreadable',
    sizeBytes: null,
  }))
  visitNodes(root, (node, folder) => {
    if (node.kind === 'skipped') {
      const size = node.reason === 'too-large' ? node.size : null
      skipped.push({ path: joinPath(folder, node.name), reason: node.reason, sizeBytes: size })
    } else if (node.kind !== 'folder') {
      fileCount += 1
      sizeBytes += node.size
    }
  })
  const skippedCounts: Partial<Record<SkipReason, number>> = {}
  for (const { reason } of skipped) skippedCounts[reason] = (skippedCounts[reason] ?? 0) + 1
  skipped.sort((a, b) => BY_SURPRISE.indexOf(a.reason) - BY_SURPRISE.indexOf(b.reason))
  return {
    tree,
    fileCount,
    sizeBytes,
    skippedCounts,
    skippedPaths: skipped.slice(0, MAX_SKIPPED_PATHS),
    repositories: notesOf(repositories),
  }
}

function notesOf(repositories: Scanned['repositories']): RepositoryNote[] {
  return [...repositories].slice(0, MAX_SKIPPED_PATHS).map(([path, { repository }]) => {
    try {
      return { path, ...headOf(repository) }
    } catch (error) {
      if (!isUnreadable(error)) throw error
      return { path, commit: null, branch: null }
    }
  })
}
