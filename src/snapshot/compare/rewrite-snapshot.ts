// Writes changed copies of snapshots: without a path (`forget`), or with other contents at some paths (rewinds). Everything else
// stays identical.
import type { BytePath, CheckpointId, FileEntry, LinkEntry, ObjectId } from '../../model/index.js'
import type { SnapshotComparer } from './compare.js'
import type { BlobReader } from '../git/blob-reader.js'
import { type CommitMetadata, encodeCommit } from '../objects/commit.js'
import { decodeModes, encodeModes, modeClassOf, type ModeTable } from '../objects/modes.js'
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

  /** Adds the trees of the new snapshot to the sink; the caller adds the blobs. */
  async withFiles(
    snapshot: ObjectId,
    files: ReadonlyMap<BytePath, FileEntry | LinkEntry>,
  ): Promise<ObjectId> {
    const { files: before, modes } = await this.#read(snapshot)
    const unusual = new Map(modes.unusual)
    let root = before
    for (const [path, entry] of files) {
      const mode = gitModeOf(entry)
      root = await this.#replace(root, path.split('/'), async () => ({ mode, id: entry.blob }))
      unusual.delete(path)
      if (entry.type === 'file' && modes.usual[modeClassOf('file', entry.mode)] !== entry.mode)
        unusual.set(path, entry.mode)
    }
    return this.#write(root, { ...modes, unusual })
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
