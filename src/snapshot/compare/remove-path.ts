// Removes one path from a snapshot and leaves everything else identical.
import type { BytePath, CheckpointId, ObjectId } from '../../model/index.js'
import type { SnapshotComparer } from './compare.js'
import type { BlobReader } from '../git/blob-reader.js'
import { type CommitMetadata, encodeCommit } from '../objects/commit.js'
import { decodeModes, encodeModes } from '../objects/modes.js'
import type { ObjectSink } from '../objects/object-store.js'
import {
  decodeTree,
  encodeSnapshotTree,
  encodeTree,
  GIT_MODE,
  type TreeEntry,
} from '../objects/tree.js'

export type Removed = {
  readonly tree: ObjectId
  readonly files: number
  readonly bytes: number
}

type Tally = { files: number; bytes: number }

export class PathRemover {
  readonly #path: BytePath
  readonly #blobs: BlobReader
  readonly #comparer: SnapshotComparer
  readonly #sink: ObjectSink

  constructor(
    path: BytePath,
    tools: { blobs: BlobReader; comparer: SnapshotComparer; sink: ObjectSink },
  ) {
    this.#path = path
    this.#blobs = tools.blobs
    this.#comparer = tools.comparer
    this.#sink = tools.sink
  }

  /** Undefined if the snapshot does not have the path. */
  async from(snapshot: ObjectId): Promise<Removed | undefined> {
    if (!(await this.#comparer.has(snapshot, this.#path))) return undefined
    const parts = await this.#comparer.parts(snapshot)
    const tally: Tally = { files: 0, bytes: 0 }
    const files = await this.#without(parts.files, this.#path.split('/'), tally)
    const modes = await this.#withoutModes(parts.modes)
    return { tree: this.#sink.add('tree', encodeSnapshotTree(files, modes)), ...tally }
  }

  /** A folder that becomes empty stays. */
  async #without(tree: ObjectId, names: readonly string[], tally: Tally): Promise<ObjectId> {
    const [name, ...rest] = names
    const entries: TreeEntry[] = []
    for (const entry of decodeTree(await this.#blobs.read(tree))) {
      if (entry.name !== name) entries.push(entry)
      else if (rest.length === 0) await this.#count(entry, tally)
      else entries.push({ ...entry, id: await this.#without(entry.id, rest, tally) })
    }
    return this.#sink.add('tree', encodeTree(entries))
  }

  async #count({ mode, id }: TreeEntry, tally: Tally): Promise<void> {
    if (mode === GIT_MODE.folder) {
      for (const entry of decodeTree(await this.#blobs.read(id))) await this.#count(entry, tally)
      return
    }
    tally.files += 1
    await this.#blobs.stream(id, {
      start: (size) => {
        tally.bytes += size
      },
      chunk: () => undefined,
    })
  }

  async #withoutModes(id: ObjectId): Promise<ObjectId> {
    const table = decodeModes(await this.#blobs.read(id))
    const isInside = (key: string) => key === this.#path || key.startsWith(`${this.#path}/`)
    const unusual = new Map([...table.unusual].filter(([key]) => !isInside(key)))
    return this.#sink.add('blob', encodeModes({ ...table, unusual }))
  }
}

export type Rewritten = Removed & { readonly checkpoint: CheckpointId; readonly commit: ObjectId }

/** Writes the snapshots and commits of the checkpoints without the path; skips checkpoints that lack it. */
export async function rewriteWithout(
  remover: PathRemover,
  sink: ObjectSink,
  checkpoints: readonly CommitMetadata[],
): Promise<Rewritten[]> {
  const rewritten: Rewritten[] = []
  for (const facts of checkpoints) {
    const removed = await remover.from(facts.tree)
    if (removed === undefined) continue
    const commit = sink.add('commit', encodeCommit({ ...facts, tree: removed.tree }))
    rewritten.push({ ...removed, checkpoint: facts.checkpoint, commit })
  }
  await sink.finish()
  return rewritten
}

/** Writes the commits of checkpoints again, with different reasons. Removes nothing. */
export async function rewriteCommits(
  sink: ObjectSink,
  checkpoints: readonly CommitMetadata[],
): Promise<Rewritten[]> {
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
