// Git's tree objects, and the two parts of a snapshot: `files` is the folder as git represents it, `modes` has the permission
// bits that git does not store (docs/internals/design.md#snapshot).
import { type BytePath, type ObjectId, SavestateError } from '../../model/index.js'

/** Git's modes; all other permission bits are in the `modes` blob. */
export const GIT_MODE = {
  file: '100644',
  executable: '100755',
  link: '120000',
  folder: '40000',
} as const
export type GitMode = (typeof GIT_MODE)[keyof typeof GIT_MODE]

export type TreeEntry = { readonly mode: GitMode; readonly name: BytePath; readonly id: ObjectId }

/** Entries must come in git's order: see `sortEntries`. */
export function encodeTree(entries: readonly TreeEntry[]): Buffer {
  let size = 0
  for (const { mode, name } of entries) size += mode.length + name.length + 22
  const bytes = Buffer.allocUnsafe(size)
  let at = 0
  for (const { mode, name, id } of entries) {
    at += bytes.latin1Write(mode, at)
    bytes[at++] = 0x20
    at += bytes.latin1Write(name, at)
    bytes[at++] = 0
    at += bytes.hexWrite(id, at)
  }
  return bytes
}

export function decodeTree(bytes: Buffer): TreeEntry[] {
  const entries: TreeEntry[] = []
  for (let at = 0; at < bytes.length; ) {
    const blank = bytes.indexOf(0x20, at)
    const end = bytes.indexOf(0, blank)
    if (blank <= at || end <= blank || end + 20 >= bytes.length)
      throw new SavestateError('STORE_DAMAGED', 'A tree in the store is malformed', {
        hint: 'Run `savestate verify` to see which checkpoints are affected.',
      })
    entries.push({
      mode: bytes.latin1Slice(at, blank) as GitMode,
      name: bytes.latin1Slice(blank + 1, end) as BytePath,
      id: bytes.hexSlice(end + 1, end + 21) as ObjectId,
    })
    at = end + 21
  }
  return entries
}

/** The tree of a snapshot, from its two parts. */
export function encodeSnapshotTree(files: ObjectId, modes: ObjectId): Buffer {
  return encodeTree([
    { mode: GIT_MODE.folder, name: 'files' as BytePath, id: files },
    { mode: GIT_MODE.file, name: 'modes' as BytePath, id: modes },
  ])
}

/** Sorts the entries of a tree in place, in git's order. */
export function sortEntries(entries: TreeEntry[]): TreeEntry[] {
  const order = ({ name, mode }: TreeEntry) => treeOrder(name, mode === GIT_MODE.folder)
  return entries.sort((a, b) => (order(a) < order(b) ? -1 : 1))
}

/** Git sorts a folder as if its name ended with a slash. */
export function treeOrder(name: string, isFolder: boolean): string {
  return isFolder ? `${name}/` : name
}
