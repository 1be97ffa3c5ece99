// From nodes to the objects of a snapshot: a tree for each folder that changed, the modes, and the tree
// that holds both and is the snapshot's identity.
import {
  type BytePath,
  invariant,
  MAX_SKIPPED_PATHS,
  type ObjectId,
  type RepositoryNote,
  ROOT,
  type Skipped,
  type SkipReason,
  type Snapshot,
} from '../../model/index.js'
import { headOf } from '../checkout/repository.js'
import { encodeModes, modeClassOf, type ModeItem, tabulateModes } from '../objects/modes.js'
import type { ObjectSink } from '../objects/object-store.js'
import { encodeTree, GIT_MODE, type GitMode, type TreeEntry } from '../objects/tree.js'
import { type FolderNode, isCaptured, type Node, nodesBelow } from './node.js'
import type { Scanned } from './scan.js'

/** Writes what is new; afterwards every folder node has its tree's id. */
export function buildTrees(folder: FolderNode, sink: ObjectSink): ObjectId {
  if (folder.id !== undefined) return folder.id
  const entries: TreeEntry[] = []
  for (const child of folder.children) {
    if (!isCaptured(child)) continue
    const id = child.kind === 'folder' ? buildTrees(child, sink) : child.id
    invariant(id !== undefined, 'a captured file has been hashed')
    entries.push({ mode: gitModeOf(child), name: child.name, id })
  }
  folder.id = sink.add('tree', encodeTree(entries))
  folder.kept = false
  return folder.id
}

export function buildSnapshotTree(root: FolderNode, sink: ObjectSink): ObjectId {
  const files = buildTrees(root, sink)
  const modes = sink.add('blob', encodeModes(tabulateModes(() => modeItems(root))))
  return sink.add(
    'tree',
    encodeTree([
      { mode: GIT_MODE.folder, name: 'files' as BytePath, id: files },
      { mode: GIT_MODE.file, name: 'modes' as BytePath, id: modes },
    ]),
  )
}

function* modeItems(root: FolderNode): Generator<ModeItem> {
  yield { path: () => ROOT, modeClass: 'folder', mode: root.mode }
  for (const [path, node] of nodesBelow(root)) {
    if (node.kind === 'skipped' || node.kind === 'link') continue
    yield { path: () => path, modeClass: modeClassOf(node.kind, node.mode), mode: node.mode }
  }
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
  { root, repositories, unreadableIndexes }: Scanned,
): Snapshot {
  let fileCount = 0
  let sizeBytes = 0
  const skipped: Skipped[] = unreadableIndexes.map((path) => ({
    path: (path === '' ? '.git/index' : `${path}/.git/index`) as BytePath,
    reason: 'unreadable',
    sizeBytes: null,
  }))
  for (const [path, node] of nodesBelow(root)) {
    if (node.kind === 'skipped') {
      skipped.push({
        path,
        reason: node.reason,
        sizeBytes: node.reason === 'too-large' ? node.size : null,
      })
    } else if (node.kind !== 'folder') {
      fileCount += 1
      sizeBytes += node.size
    }
  }
  const skippedCounts: Partial<Record<SkipReason, number>> = {}
  for (const { reason } of skipped) skippedCounts[reason] = (skippedCounts[reason] ?? 0) + 1
  skipped.sort((a, b) => BY_SURPRISE.indexOf(a.reason) - BY_SURPRISE.indexOf(b.reason))
  const notes = [...repositories].map(
    ([path, repository]): RepositoryNote => ({ path, ...headOf(repository) }),
  )
  return {
    tree,
    fileCount,
    sizeBytes,
    skippedCounts,
    skippedPaths: skipped.slice(0, MAX_SKIPPED_PATHS),
    repositories: notes.slice(0, MAX_SKIPPED_PATHS),
  }
}
