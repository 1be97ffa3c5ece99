// Writes changed copies of snapshots: without a path (`forget`), or with other contents at some paths (rewinds). Everything else
// stays identical.
import {
  type BytePath,
  type CheckpointId,
  type Entry,
  type FileEntry,
  type LinkEntry,
  type ObjectId,
  ROOT,
} from '../../model/index.js'
import type { SnapshotComparer } from './compare.js'
import type { BlobReader } from '../git/blob-reader.js'
import { type CommitMetadata, encodeCommit } from '../objects/commit.js'
import {
  decodeModes,
  encodeModes,
  MODE_CLASSES,
  modeClassOf,
  modeKey,
  type ModeTable,
} from '../objects/modes.js'
import type { ObjectSink } from '../objects/object-store.js'
import {
  decodeTree,
  encodeSnapshotTree,
  encodeTree,
  GIT_MODE,
  sortEntries,
  type TreeEntry,
} from '../objects/tree.js'

export type Rewritten = {
  readonly checkpoint: CheckpointId
  readonly tree: ObjectId
  readonly commit: ObjectId
  /** The files that were removed. */
  readonly files: number
  readonly bytes: number
}

/** A change at a path below some tree; `names` are the names on the way. */
type Edit = { readonly names: readonly string[]; readonly entry: Entry | undefined }

export class SnapshotRewriter {
  readonly #blobs: BlobReader
  readonly #comparer: SnapshotComparer
  readonly #sink: ObjectSink
  /** Trees made here cannot be read from the store yet. */
  readonly #made = new Map<ObjectId, Buffer>()

  constructor(tools: { blobs: BlobReader; comparer: SnapshotComparer; sink: ObjectSink }) {
    this.#blobs = tools.blobs
    this.#comparer = tools.comparer
    this.#sink = tools.sink
  }

  /** Writes the snapshots and commits of the checkpoints without the path; skips checkpoints that lack it. */
  async withoutPath(
    path: BytePath,
    checkpoints: readonly CommitMetadata[],
  ): Promise<readonly Rewritten[]> {
    const isInside = (key: string) => key === path || key.startsWith(`${path}/`)
    const rewritten: Rewritten[] = []
    for (const facts of checkpoints) {
      if (!(await this.#comparer.has(facts.tree, path))) continue
      const { files, modes } = await this.#read(facts.tree)
      const removed = { files: 0, bytes: 0 }
      const left = await this.#replace(files, path.split('/'), async (old) => {
        if (old !== undefined) await this.#count(old, removed)
        return undefined
      })
      const unusual = new Map([...modes.unusual].filter(([key]) => !isInside(key)))
      const tree = this.#write(left, { ...modes, unusual })
      const commit = this.#sink.add('commit', encodeCommit({ ...facts, tree }))
      rewritten.push({ checkpoint: facts.checkpoint, tree, commit, ...removed })
      // Only stored trees are read here, and there may be many checkpoints.
      this.#made.clear()
    }
    await this.#sink.finish()
    return rewritten
  }

  /**
   * Adds the trees of a snapshot with these entries to the sink; the caller adds the blobs. Undefined removes a path, but a folder
   * only if it is empty then. Missing folders above an entry are added.
   */
  async withEntries(
    snapshot: ObjectId,
    changes: ReadonlyMap<BytePath, Entry | undefined>,
  ): Promise<ObjectId> {
    const { files, modes } = await this.#read(snapshot)
    const unusual = new Map(modes.unusual)
    for (const [path, entry] of changes) {
      for (const modeClass of MODE_CLASSES) unusual.delete(modeKey(path, modeClass))
      if (entry === undefined || entry.type === 'link') continue
      const modeClass = modeClassOf(entry.type, entry.mode)
      if (modes.usual[modeClass] !== entry.mode) unusual.set(modeKey(path, modeClass), entry.mode)
    }
    const inside = [...changes].flatMap(([path, entry]) =>
      path === ROOT ? [] : [{ names: path.split('/'), entry }],
    )
    const { id } = await this.#edit(files, inside)
    return this.#write(id, { ...modes, unusual })
  }

  async #read(
    snapshot: ObjectId,
  ): Promise<{ readonly files: ObjectId; readonly modes: ModeTable }> {
    const { files, modes } = await this.#comparer.parts(snapshot)
    return { files, modes: decodeModes(await this.#blobs.read(modes)) }
  }

  #write(files: ObjectId, modes: ModeTable): ObjectId {
    const table = this.#sink.add('blob', encodeModes(modes))
    return this.#sink.add('tree', encodeSnapshotTree(files, table))
  }

  /** The tree with another entry at a path, or none. Missing folders are added; a folder that becomes empty stays. */
  async #replace(
    tree: ObjectId | undefined,
    [name = '', ...rest]: readonly string[],
    change: (old: TreeEntry | undefined) => Promise<Omit<TreeEntry, 'name'> | undefined>,
  ): Promise<ObjectId> {
    const entries = tree === undefined ? [] : await this.#entries(tree)
    const old = entries.find((entry) => entry.name === name)
    const below = old?.mode === GIT_MODE.folder ? old.id : undefined
    const changed =
      rest.length === 0
        ? await change(old)
        : { mode: GIT_MODE.folder, id: await this.#replace(below, rest, change) }
    const others = entries.filter((entry) => entry !== old)
    const all = changed === undefined ? others : [...others, { ...changed, name: name as BytePath }]
    const bytes = encodeTree(sortEntries(all))
    const id = this.#sink.add('tree', bytes)
    this.#made.set(id, bytes)
    return id
  }

  async #edit(
    tree: ObjectId | undefined,
    changes: readonly Edit[],
  ): Promise<{ readonly id: ObjectId; readonly isEmpty: boolean }> {
    const before = tree === undefined ? [] : await this.#entries(tree)
    const entries = new Map(before.map((entry) => [entry.name as string, entry]))
    const byName = new Map<string, Edit[]>()
    for (const change of changes) {
      const [name = ''] = change.names
      byName.set(name, [...(byName.get(name) ?? []), change])
    }
    for (const [name, edits] of byName) {
      const changed = await this.#editEntry(entries.get(name), edits)
      if (changed === undefined) entries.delete(name)
      else entries.set(name, { ...changed, name: name as BytePath })
    }
    const id = this.#sink.add('tree', encodeTree(sortEntries([...entries.values()])))
    return { id, isEmpty: entries.size === 0 }
  }

  async #editEntry(
    old: TreeEntry | undefined,
    edits: readonly Edit[],
  ): Promise<Omit<TreeEntry, 'name'> | undefined> {
    const own = edits.find(({ names }) => names.length === 1)
    const { entry } = own ?? {}
    if (entry !== undefined && entry.type !== 'folder')
      return { mode: gitModeOf(entry), id: entry.blob }
    const below = edits.flatMap((edit) =>
      edit === own ? [] : [{ ...edit, names: edit.names.slice(1) }],
    )
    const isFolder = old?.mode === GIT_MODE.folder
    const isWanted = entry !== undefined || below.some((edit) => edit.entry !== undefined)
    if (!isFolder && !isWanted) return own === undefined ? old : undefined
    const { id, isEmpty } = await this.#edit(isFolder ? old.id : undefined, below)
    const isRemoved = own !== undefined && entry === undefined && isEmpty
    return isRemoved ? undefined : { mode: GIT_MODE.folder, id }
  }

  async #entries(tree: ObjectId): Promise<TreeEntry[]> {
    return decodeTree(this.#made.get(tree) ?? (await this.#blobs.read(tree)))
  }

  async #count({ mode, id }: TreeEntry, sum: { files: number; bytes: number }): Promise<void> {
    if (mode === GIT_MODE.folder) {
      for (const entry of await this.#entries(id)) await this.#count(entry, sum)
      return
    }
    sum.files += 1
    await this.#blobs.stream(id, {
      start: (size) => {
        sum.bytes += size
      },
      chunk: () => undefined,
    })
  }
}

/** Writes the commits of checkpoints again, with different reasons. Removes nothing. */
export async function rewriteCommits(
  sink: ObjectSink,
  checkpoints: readonly CommitMetadata[],
): Promise<readonly Rewritten[]> {
  const rewritten = checkpoints.map((facts) => ({
    checkpoint: facts.checkpoint,
    tree: facts.tree,
    commit: sink.add('commit', encodeCommit(facts)),
    files: 0,
    bytes: 0,
  }))
  await sink.finish()
  return rewritten
}

function gitModeOf(entry: FileEntry | LinkEntry): TreeEntry['mode'] {
  if (entry.type === 'link') return GIT_MODE.link
  return modeClassOf('file', entry.mode) === 'file' ? GIT_MODE.file : GIT_MODE.executable
}
