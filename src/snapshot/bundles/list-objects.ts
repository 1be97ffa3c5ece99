// The objects of one snapshot that another does not have. The cost depends on the difference: both trees are read together, and
// where an id is equal nothing below it is read. Content that was moved is found if the folder it was in has changed.
import type { ObjectId } from '../../model/index.js'
import { GIT_MODE, type TreeEntry } from '../objects/tree.js'
import type { PackedType } from './envelope.js'
import type { PackContent } from './transfer.js'

export type ListedObject = { readonly id: ObjectId; readonly type: PackedType }
type ReadTree = (id: ObjectId) => Promise<readonly TreeEntry[]>

/** In an order that only the two snapshots determine. The first is `tree`, unless both are the same. */
export async function listNewObjects(
  { tree, base }: PackContent,
  readTree: ReadTree,
): Promise<readonly ListedObject[]> {
  if (tree === base) return []
  const { changed, added, removed } =
    base === null
      ? { changed: [], added: [folder(tree)], removed: [] }
      : await compareFolders([tree, base], readTree)
  // Removed folders are read only if their content may have moved.
  const known = await listBelow(added.length === 0 ? [] : removed, readTree)
  const found = new Map<ObjectId, PackedType>(changed.map((id) => [id, 'tree']))
  for (const entry of added) {
    if (known.has(entry.id) || found.has(entry.id)) continue
    const isFolder = entry.mode === GIT_MODE.folder
    found.set(entry.id, isFolder ? 'tree' : 'blob')
    // The loop visits these too.
    if (isFolder) added.push(...(await readTree(entry.id)))
  }
  return [...found].map(([id, type]) => ({ id, type }))
}

/** Reads the folders that both snapshots have and that differ. */
async function compareFolders([tree, base]: readonly [ObjectId, ObjectId], readTree: ReadTree) {
  const changed = new Set<ObjectId>()
  const added: TreeEntry[] = []
  const removed: TreeEntry[] = []
  const pairs: [after: ObjectId, before: ObjectId][] = [[tree, base]]
  const seen = new Set<string>()
  for (const [after, before] of pairs) {
    changed.add(after)
    const old = new Map((await readTree(before)).map((entry) => [entry.name, entry]))
    for (const entry of await readTree(after)) {
      const other = old.get(entry.name)
      const isPair = other?.mode === GIT_MODE.folder && entry.mode === GIT_MODE.folder
      if (other?.id === entry.id || isPair) old.delete(entry.name)
      if (other?.id === entry.id) continue
      if (!isPair) added.push(entry)
      else if (!seen.has(`${entry.id}${other.id}`)) {
        seen.add(`${entry.id}${other.id}`)
        pairs.push([entry.id, other.id])
      }
    }
    removed.push(...old.values())
  }
  return { changed: [...changed], added, removed }
}

async function listBelow(
  entries: readonly TreeEntry[],
  readTree: ReadTree,
): Promise<ReadonlySet<ObjectId>> {
  const found = new Set<ObjectId>()
  const rest = [...entries]
  for (const { id, mode } of rest) {
    if (found.has(id)) continue
    found.add(id)
    if (mode === GIT_MODE.folder) rest.push(...(await readTree(id)))
  }
  return found
}

function folder(id: ObjectId): TreeEntry {
  return { id, mode: GIT_MODE.folder, name: '' as TreeEntry['name'] }
}
