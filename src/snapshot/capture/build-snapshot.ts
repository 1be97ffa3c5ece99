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
import { type FolderNode, isUnfinished, type Node, visitNodes } from './node.js'
import type { PackedNodes } from './packed-nodes.js'
import type { Scanned } from './scanned.js'
import { isUnreadable } from './stats.js'

export type SnapshotParts = { readonly tree: ObjectId; readonly modes: ObjectId }

/** Makes the trees of one capture, as far as the contents they hold have been hashed. */
export class TreeBuilder {
  readonly #root: FolderNode
  readonly #sink: ObjectSink
  readonly #epoch: number
  readonly #steps: Generator<undefined, void>

  constructor(root: FolderNode, sink: ObjectSink, epoch: number) {
    this.#root = root
    this.#sink = sink
    this.#epoch = epoch
    this.#steps = this.#build(root)
  }

  /** Goes on until it meets a folder in which a content is still to be hashed. */
  advance(): void {
    this.#steps.next()
  }

  /** All contents are hashed. `modes` is the blob of the last snapshot, if nothing about modes has changed since. */
  finish(known: ObjectId | undefined): SnapshotParts {
    this.advance()
    const files = this.#root.id
    invariant(files !== undefined, 'every captured file has been hashed')
    const modes =
      known ??
      this.#sink.add('blob', encodeModes(tabulateModes((count) => countModes(this.#root, count))))
    const tree = encodeTree([
      { mode: GIT_MODE.folder, name: 'files' as BytePath, id: files },
      { mode: GIT_MODE.file, name: 'modes' as BytePath, id: modes },
    ])
    return { tree: this.#sink.add('tree', tree), modes }
  }

  *#build(folder: FolderNode): Generator<undefined, void> {
    if (folder.id !== undefined) return
    // A copy: while this waits, files that cannot be read are taken out of the folder.
    for (const child of folder.children.filter((node) => node.kind === 'folder'))
      yield* this.#build(child)
    while (folder.children.some(isUnfinished)) yield
    const entries: TreeEntry[] = []
    for (const child of folder.children) {
      if (child.kind === 'skipped' || child.id === undefined) continue
      entries.push({ mode: gitModeOf(child), name: child.name, id: child.id })
    }
    folder.id = this.#sink.add('tree', encodeTree(entries))
    folder.epoch = this.#epoch
  }
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
  'secret',
  'reserved',
  'special',
  'temporary',
  'store',
  'ignored',
  'vcs',
]

/** `packed`: where the nodes are that nobody has looked at. */
export function describeSnapshot(
  tree: ObjectId,
  { root, repositories, unreadable }: Scanned,
  packed: PackedNodes | undefined,
): Snapshot {
  let fileCount = 0
  let sizeBytes = 0
  const skipped: Skipped[] = unreadable.map((path) => ({
    path,
    reason: 'unreadable',
    sizeBytes: null,
  }))
  const describe = (folder: FolderNode, path: BytePath) => {
    for (const node of folder.children) {
      if (node.kind === 'folder') {
        const sum = node.isPacked ? packed?.tally(node) : undefined
        if (sum === undefined || sum.skipped > 0) {
          describe(node, joinPath(path, node.name))
        } else {
          fileCount += sum.files
          sizeBytes += sum.bytes
        }
      } else if (node.kind === 'skipped') {
        const size = node.reason === 'too-large' ? node.size : null
        skipped.push({ path: joinPath(path, node.name), reason: node.reason, sizeBytes: size })
      } else {
        fileCount += 1
        sizeBytes += node.size
      }
    }
  }
  describe(root, ROOT)
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
