// Decides the owner of a restored file, and which mode bits it may have. Root gives a file only to the owner it was captured with.
// Setuid and setgid are restored only under that owner and group: otherwise the program would run with the rights of a user who
// never granted them.
import {
  chownSync,
  closeSync,
  constants,
  fchownSync,
  fstatSync,
  openSync,
  readdirSync,
} from 'node:fs'
import {
  type BytePath,
  hasCode,
  type OwnedPath,
  type Owner,
  parentOf,
  ROOT,
} from '../../model/index.js'
import { O_PATH } from './move-file.js'
import { HAS_DESCRIPTOR_PATHS, type SafeFolders } from './safe-folders.js'

const SETUID = 0o4000
const SETGID = 0o2000

/** The owner that a path was captured with; undefined if it was not recorded. */
export type OwnerLookup = (path: BytePath) => Owner | undefined

export function ownerLookupFrom(owners: readonly OwnedPath[] | undefined): OwnerLookup {
  const known = new Map<BytePath, Owner>(owners?.map((owned) => [owned.path, owned]))
  return (path) => {
    for (let level = path; level !== ROOT; level = parentOf(level)) {
      const owner = known.get(level)
      if (owner !== undefined) return owner
    }
    return known.get(ROOT)
  }
}

/** Why a path does not have its recorded mode or owner. */
export type PartialReason = 'system' | 'owner' | 'unknown-owner'

export type Granted = { readonly mode: number; readonly why: PartialReason | undefined }

export function isRoot(): boolean {
  return process.geteuid?.() === 0
}

/** The part of the wanted mode that a file may have if it was captured with `owner` and now belongs to `now`. */
export function modeUnder(
  wanted: number,
  { owner, now }: { readonly owner: Owner | undefined; readonly now: Owner },
): Granted {
  let mode = wanted
  if (owner?.uid !== now.uid) mode &= ~SETUID
  if (owner?.gid !== now.gid) mode &= ~SETGID
  return { mode, why: mode === wanted ? undefined : 'owner' }
}

/** Gives a new file its recorded owner. `folder` is the owner of its folder. */
export function ownNewFile(
  fd: number,
  { wanted, owner, folder }: { wanted: number; owner: Owner | undefined; folder: Owner },
): Granted {
  if (isRoot()) {
    const isGiven = owner !== undefined && giveTo(owner, fd)
    // In root's own folder the file is most likely root's. Elsewhere it may have belonged to another user.
    if (!isGiven && folder.uid !== 0) return { mode: withoutGroup(wanted), why: 'unknown-owner' }
  } else if ((wanted & (SETUID | SETGID)) === 0) return { mode: wanted, why: undefined }
  return modeUnder(wanted, { owner, now: fstatSync(fd) })
}

/** Gives a new folder its owner. False if root keeps a folder that may have belonged to another user. */
export function ownNewFolder(
  folders: SafeFolders,
  { path, owner }: { readonly path: BytePath; readonly owner: Owner | undefined },
): boolean {
  if (!isRoot()) return true
  const fd = folders.descriptor(path)
  // Only an empty one: another process may have moved one of root's folders to this path.
  const isEmpty = readdirSync(folders.listable(path)).length === 0
  if (owner !== undefined && isEmpty && giveTo(owner, fd)) return true
  return fstatSync(folders.descriptor(parentOf(path))).uid === 0
}

/** Gives a new link its owner. Uses a descriptor: by name, another file could be given away. */
export function ownNewLink(location: string | Buffer, owner: Owner | undefined): void {
  if (owner === undefined || !isRoot() || !HAS_DESCRIPTOR_PATHS) return
  const fd = openSync(location, O_PATH | constants.O_NOFOLLOW)
  try {
    const stats = fstatSync(fd)
    if (stats.isSymbolicLink() && stats.uid === 0)
      refusable(() => chownSync(`/proc/self/fd/${fd}`, owner.uid, owner.gid))
  } finally {
    closeSync(fd)
  }
}

function giveTo({ uid, gid }: Owner, fd: number): boolean {
  const now = fstatSync(fd)
  if (now.uid === uid && now.gid === gid) return true
  return refusable(() => fchownSync(fd, uid, gid))
}

/** In a container or on a network disk, root may not be allowed to change owners. */
function refusable(give: () => void): boolean {
  try {
    give()
    return true
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL', 'ENOTSUP', 'EOPNOTSUPP')) throw error
    return false
  }
}

/** The group differs now, so it gets only the permissions of everyone. */
function withoutGroup(mode: number): number {
  const plain = mode & 0o1777
  return plain & ~(0o070 & ~((plain & 0o007) << 3))
}
