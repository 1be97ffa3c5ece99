// Replaces the contents of some paths of a snapshot and leaves everything else identical.
import type { BytePath, FileEntry, LinkEntry, ObjectId } from '../../model/index.js'
import type { SnapshotComparer } from './compare.js'
import type { BlobReader } from '../git/blob-reader.js'
import { decodeModes, encodeModes, modeClassOf } from '../objects/modes.js'
import type { ObjectSink } from '../objects/object-store.js'
import {
  decodeTree,
  encodeSnapshotTree,
  encodeTree,
  GIT_MODE,
  type GitMode,
  treeOrder,
} from '../objects/tree.js'

type Tools = {
  readonly blobs: BlobReader
  readonly comparer: SnapshotComparer
  readonly sink: ObjectSink
}

/** Adds the trees of the new snapshot to the sink; the caller adds the blobs. */
export async function withFiles(
  snapshot: ObjectId,
  files: ReadonlyMap<BytePath, FileEntry | LinkEntry>,
  { blobs, comparer, sink }: Tools,
): Promise<ObjectId> {
  const parts = await comparer.parts(snapshot)
  const table = decodeModes(await blobs.read(parts.modes))
  const unusual = new Map(table.unusual)
  // Trees made here cannot be read from the store yet.
  const made = new Map<ObjectId, Buffer>()
  let root = parts.files
  for (const [path, entry] of files) {
    root = await put(root, path.split('/'), entry)
    unusual.delete(path)
    if (entry.type === 'file' && table.usual[modeClassOf('file', entry.mode)] !== entry.mode)
      unusual.set(path, entry.mode)
  }
  const modes = sink.add('blob', encodeModes({ ...table, unusual }))
  return sink.add('tree', encodeSnapshotTree(root, modes))

  async function put(
    tree: ObjectId | undefined,
    [name = '', ...rest]: readonly string[],
    entry: FileEntry | LinkEntry,
  ): Promise<ObjectId> {
    const bytes =
      tree === undefined ? Buffer.alloc(0) : (made.get(tree) ?? (await blobs.read(tree)))
    const entries = decodeTree(bytes)
    const old = entries.find((each) => each.name === name)
    const below = old?.mode === GIT_MODE.folder ? old.id : undefined
    const others = entries.filter((each) => each !== old)
    const isFolder = rest.length > 0
    const id = isFolder ? await put(below, rest, entry) : entry.blob
    const mode = isFolder ? GIT_MODE.folder : gitModeOf(entry)
    const all = [...others, { mode, name: name as BytePath, id }]
    const order = (each: (typeof all)[number]) =>
      treeOrder(each.name, each.mode === GIT_MODE.folder)
    const encoded = encodeTree(all.sort((a, b) => (order(a) < order(b) ? -1 : 1)))
    const added = sink.add('tree', encoded)
    made.set(added, encoded)
    return added
  }
}

function gitModeOf(entry: FileEntry | LinkEntry): GitMode {
  if (entry.type === 'link') return GIT_MODE.link
  return modeClassOf('file', entry.mode) === 'file' ? GIT_MODE.file : GIT_MODE.executable
}
