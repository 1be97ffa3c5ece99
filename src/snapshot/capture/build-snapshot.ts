// Turns nodes into the objects of a snapshot: a tree for each changed folder, the modes blob, and the tree that contains
// both and is the snapshot's identity.
import {
  type BytePath,
  invariant,
  MAX_SKIPPED_PATHS,
  type ObjectId,
  type RepositoryNote,
  ROOT,
  type Snapshot,
} from '../../model/index.js'
import { headOf } from '../checkout/repository.js'
import { encodeModes, type ModeTable, tabulateModes } from '../objects/modes.js'
import type { ObjectSink, ObjectStore } from '../objects/object-store.js'
import { encodeTree, GIT_MODE, type GitMode, type TreeEntry } from '../objects/tree.js'
import { findNode, type FolderNode, isUnfinished, type Node } from './stat-cache/node.js'
import { ownersOf } from './scan/owners.js'
import type { PackedNodes } from './stat-cache/packed-nodes.js'
import type { CachedProject } from './stat-cache/stat-cache.js'
import type { Scanned } from './scan/scan-types.js'
import { isUnreadable } from './stat-cache/stats.js'
import {
  countModes,
  findUnusual,
  mostSurprising,
  type Summary,
  summaryOf,
} from './stat-cache/folder-summary.js'

export type SnapshotParts = { readonly tree: ObjectId; readonly modes: ObjectId }

/** Builds the trees of one capture as their contents are hashed. */
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

  /** Builds trees until it reaches a folder with a content that is not hashed yet. */
  advance(): void {
    this.#steps.next()
  }

  /** Call when all contents are hashed. `known` is the last snapshot's modes blob, if no mode has changed since. */
  finish(known: ObjectId | undefined, packed: PackedNodes | undefined): SnapshotParts {
    this.advance()
    const files = this.#root.id
    invariant(files !== undefined, 'every captured file has been hashed')
    const modes = known ?? this.#sink.add('blob', encodeModes(modesOf(this.#root, packed)))
    const tree = encodeTree([
      { mode: GIT_MODE.folder, name: 'files' as BytePath, id: files },
      { mode: GIT_MODE.file, name: 'modes' as BytePath, id: modes },
    ])
    return { tree: this.#sink.add('tree', tree), modes }
  }

  *#build(folder: FolderNode): Generator<undefined, void> {
    if (folder.id !== undefined) return
    // Iterate over a copy: while this waits, unreadable files are removed from the folder.
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

function modesOf(root: FolderNode, packed: PackedNodes | undefined): ModeTable {
  summaryOf(root, ROOT, packed)
  return tabulateModes({
    count: (add) => countModes(root, packed, add),
    unusual(usual, found) {
      if (root.mode !== usual.folder) found('folder', root.mode, ROOT)
      findUnusual(root, ROOT, { usual, found })
    },
  })
}

function gitModeOf(node: Node): GitMode {
  if (node.kind === 'folder') return GIT_MODE.folder
  if (node.kind === 'link') return GIT_MODE.link
  invariant(node.kind === 'file', 'a skipped path has no git mode')
  return (node.mode & 0o100) === 0 ? GIT_MODE.file : GIT_MODE.executable
}

/** Call when all contents are hashed. Reuses the last snapshot's tree and modes blob where nothing changed. */
export function finishSnapshot(
  scanned: Scanned,
  now: {
    readonly known: CachedProject | undefined
    readonly builder: TreeBuilder
    readonly hasSameModes: boolean
    readonly hasSameFiles: boolean
    readonly store: ObjectStore
    readonly packed: PackedNodes | undefined
  },
): { readonly snapshot: Snapshot; readonly modes: ObjectId | undefined } {
  const { known, builder, hasSameModes, hasSameFiles, store, packed } = now
  const tree = known?.snapshot?.tree
  if (hasSameFiles && hasSameModes && tree !== undefined && store.has(tree))
    return { snapshot: describeSnapshot(tree, scanned, packed), modes: known?.modes }
  const canReuse = hasSameModes && known?.modes !== undefined && store.has(known.modes)
  const parts = builder.finish(canReuse ? known.modes : undefined, packed)
  return { snapshot: describeSnapshot(parts.tree, scanned, packed), modes: parts.modes }
}

/** `packed`: nodes that no scan has visited. */
function describeSnapshot(
  tree: ObjectId,
  scanned: Scanned,
  packed: PackedNodes | undefined,
): Snapshot {
  return {
    ...describeFiles(tree, scanned, packed),
    repositories: notesOf(scanned.repositories),
    rules: scanned.rules,
  }
}

/** The nodes of a capture, and the repository files that could not be read. */
export type Found = Pick<Scanned, 'root' | 'unreadable'>

export function describeFiles(
  tree: ObjectId,
  found: Found,
  packed: PackedNodes | undefined,
): Omit<Snapshot, 'repositories' | 'rules'> {
  const summary = summaryOf(found.root, ROOT, packed)
  return {
    tree,
    fileCount: summary.files,
    sizeBytes: summary.bytes,
    ...withUnreadable(summary, found),
    owners: ownersOf(found.root, summary.owned),
  }
}

/** Adds unreadable repository files. An unreadable `.git` is listed as `unreadable` instead of `vcs`. */
function withUnreadable(
  { skipped, skippedCounts }: Summary,
  { root, unreadable }: Found,
): Pick<Snapshot, 'skippedPaths' | 'skippedCounts'> {
  if (unreadable.length === 0) return { skippedPaths: skipped, skippedCounts }
  const more = unreadable.map((path) => ({ path, reason: 'unreadable', sizeBytes: null }) as const)
  const listed = new Set(unreadable.filter((path) => findNode(root, path) !== undefined))
  const { vcs = 0, ...counts } = skippedCounts
  return {
    skippedPaths: mostSurprising([...more, ...skipped.filter(({ path }) => !listed.has(path))]),
    skippedCounts: {
      ...counts,
      ...(vcs > listed.size ? { vcs: vcs - listed.size } : {}),
      unreadable: (skippedCounts.unreadable ?? 0) + more.length,
    },
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
