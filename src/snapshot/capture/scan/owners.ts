// Owners of files. They are not part of a snapshot's identity: a chown alone makes no new checkpoint. Nearly all files of a
// project have one owner, so a node stores only an owner number, and a snapshot lists the paths whose owner differs from
// the owner of their folder.
import { type BytePath, joinPath, type OwnedPath, type Owner } from '../../../model/index.js'
import type { FolderNode } from '../stat-cache/node.js'

/** The owner is unknown. */
export const NO_OWNER = 0
/** A snapshot with more exceptions than this records no owners at all. */
const MAX_OWNED_PATHS = 1000

const owners: Owner[] = [{ uid: -1, gid: -1 }]
let last = NO_OWNER

/** The number of an owner, valid in this thread only. */
export function ownerNumber(uid: number, gid: number): number {
  const known = owners[last]
  if (known?.uid !== uid || known.gid !== gid) {
    const found = owners.findIndex((owner) => owner.uid === uid && owner.gid === gid)
    last = found === -1 ? owners.push({ uid, gid }) - 1 : found
  }
  return last
}

/** For the stat cache: the same in every process. */
export function ownerText(number: number): string {
  const owner = owners[number]
  return owner === undefined || number === NO_OWNER ? '' : `${owner.uid}:${owner.gid}`
}

export function ownerFromText(text: string): number {
  const [uid, gid] = text.split(':')
  return gid === undefined ? NO_OWNER : ownerNumber(Number(uid), Number(gid))
}

/** The exceptions directly in a folder. */
export function ownedIn(folder: FolderNode, path: BytePath): OwnedPath[] {
  const owned: OwnedPath[] = []
  for (const node of folder.children) {
    if (node.kind === 'skipped' || node.owner === folder.owner) continue
    const owner = owners[node.owner]
    if (owner !== undefined) owned.push({ path: joinPath(path, node.name), ...owner })
  }
  return owned
}

/** The owners of a snapshot; undefined if there are too many exceptions, or the system has no owners. */
export function ownersOf(
  root: FolderNode,
  owned: readonly OwnedPath[],
): readonly OwnedPath[] | undefined {
  const owner = owners[root.owner]
  if (owner === undefined || root.owner === NO_OWNER || process.getuid === undefined)
    return undefined
  if (owned.length > MAX_OWNED_PATHS) return undefined
  return [{ path: '' as BytePath, ...owner }, ...owned]
}

/** Truncates the list, but keeps it long enough to show that it exceeds the limit. */
export function firstOwned(owned: OwnedPath[]): readonly OwnedPath[] {
  return owned.length > MAX_OWNED_PATHS ? owned.slice(0, MAX_OWNED_PATHS + 1) : owned
}
