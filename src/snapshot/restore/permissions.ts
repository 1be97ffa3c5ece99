// The owner and the mode of a restored file or folder. Root gives a file only to the owner it was captured with. Setuid and setgid
// are restored only under that owner and group: otherwise the program would run with the rights of a user who never granted them.
//
// Not every user may set setuid, setgid and sticky: the kernel silently drops setgid if the user is not in the file's group, and
// some systems refuse it. We set the rest of the mode and report the difference. A folder of another user keeps its mode, which
// is reported too.
import {
  chmodSync,
  chownSync,
  closeSync,
  constants,
  fchmodSync,
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
import { FolderReplaced, HAS_DESCRIPTOR_PATHS, O_PATH, type SafeFolders } from './safe-folders.js'

const SETUID = 0o4000
const SETGID = 0o2000
const MODE_BITS = 0o7777
const SPECIAL_BITS = 0o7000

/** A path whose mode or owner could be restored only in part. */
export type PartialMode = {
  readonly path: BytePath
  readonly wanted: number
  readonly mode: number
  readonly why: 'system' | 'owner' | 'unknown-owner'
}

type Granted = { readonly mode: number; readonly why: PartialMode['why'] | undefined }

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

/**
 * `chmod` follows links, so the file is opened first. With O_PATH Linux can open a file without read permission. Returns the
 * result of `setModeAt`.
 */
export function setFileMode(location: string | Buffer, mode: number): number | undefined {
  const fd = openSync(
    location,
    (HAS_DESCRIPTOR_PATHS ? O_PATH : constants.O_RDONLY) | constants.O_NOFOLLOW,
  )
  try {
    if (!fstatSync(fd).isFile()) throw new FolderReplaced(ROOT)
    if (!HAS_DESCRIPTOR_PATHS) return setModeAt(fd, mode)
    return setModeAt(fd, mode, (bits) => chmodSync(`/proc/self/fd/${fd}`, bits))
  } finally {
    closeSync(fd)
  }
}

/** Returns undefined if the mode is as wanted, else the actual mode. `change` replaces fchmod if the descriptor cannot do it. */
export function setModeAt(
  fd: number,
  wanted: number,
  change: (mode: number) => void = (mode) => fchmodSync(fd, mode),
): number | undefined {
  // Avoid a needless change: it may be refused, or clear an inherited bit that we cannot set again.
  if (modeAt(fd) === wanted) return undefined
  try {
    change(wanted)
    if ((wanted & SPECIAL_BITS) === 0) return undefined
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL')) throw error
    setPlainBits(wanted & ~SPECIAL_BITS, change)
  }
  const mode = modeAt(fd)
  return mode === wanted ? undefined : mode
}

/** May fail for another user's file or folder. A file is rewritten in that case; a folder stays as it is. */
function setPlainBits(mode: number, change: (mode: number) => void): void {
  try {
    change(mode)
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error
  }
}

/** The mode for mkdir. A folder keeps an inherited bit only if its mode is not changed afterwards. */
export function firstFolderMode(wanted: number): number {
  return (wanted & SPECIAL_BITS) === 0 ? 0o700 : (wanted & ~SPECIAL_BITS) | 0o700
}

function modeAt(fd: number): number {
  return fstatSync(fd).mode & MODE_BITS
}

function isRoot(): boolean {
  return process.geteuid?.() === 0
}
