// A file that a rewind replaces or removes is first moved aside under a reserved name. So the check against the safety checkpoint
// is made on a file that cannot be reached by its path any more (I3). It stays there until everything else is done: a program
// that has it open may still write to it.
//
// It is removed only if its current content is in a checkpoint. If a program wrote to it while it was being moved or had it open,
// the new content is stored; the caller records it and then calls `removeAsides` again (I3).
import { createHash } from 'node:crypto'
import {
  type BigIntStats,
  fchmodSync,
  fstatSync,
  lstatSync,
  readlinkSync,
  renameSync,
  unlinkSync,
} from 'node:fs'
import {
  type BytePath,
  type FileEntry,
  hasCode,
  joinPath,
  type LinkEntry,
  type ObjectId,
  parentOf,
  type RestorePlan,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { asideName, asidePrefix } from '../capture/capture-target.js'
import { readStable } from '../capture/hash/read-file.js'
import { listFolder } from '../capture/scan/list-folder.js'
import { isSameNumber } from '../capture/stat-cache/stats.js'
import type { RestoreWork } from './apply.js'
import { moveWithoutOverwriting } from './move-file.js'
import { contentIdOf } from './recheck.js'
import { FolderReplaced, mayChangeMode, type SafeFolders, visitFolders } from './safe-folders.js'

/** A larger file stays where it is. */
const MAX_SAVED_BYTES = 1 << 30
const HASH_DIGITS = 12

export type Aside = {
  readonly path: BytePath
  readonly at: BytePath
  /** Contents that are in a checkpoint. With any other content it must not be removed. */
  readonly known: readonly (FileEntry | LinkEntry)[]
  /** With this stamp it has the first of the known contents. Undefined: its content has to be read. */
  readonly stamp: MovedStamp | undefined
}

/** Without ctime, which the move changes. */
export type MovedStamp = Pick<BigIntStats, 'size' | 'mtimeNs' | 'ino'>

/** The folders that a plan removes or replaces by something else: nothing can stay in them. */
export function removedFolders({ write, remove }: RestorePlan): ReadonlySet<BytePath> {
  const replaced = write.filter(({ from, to }) => from?.type === 'folder' && to.type !== 'folder')
  const removed = remove.filter(({ from }) => from.type === 'folder')
  return new Set([...replaced, ...removed].map(({ path }) => path))
}

export class Asides {
  readonly #context: RestoreWork
  readonly #going: ReadonlySet<BytePath>
  readonly moved: Aside[] = []

  constructor(context: RestoreWork, going: ReadonlySet<BytePath>) {
    this.#context = context
    this.#going = going
  }

  /** False if the path did not match the safety checkpoint. Then the file is moved back, unless the path is taken. */
  move(path: BytePath, from: FileEntry | LinkEntry): boolean {
    const { folders, lastCheck, beforeWriteIn } = this.#context
    // The nearest folder above that stays.
    let folder = parentOf(path)
    while (this.#going.has(folder)) folder = parentOf(folder)
    beforeWriteIn(parentOf(path))
    beforeWriteIn(folder)
    if (!lastCheck.matchesSafety(path, { from, location: folders.at(path) })) return false
    const at = this.#freeName(path, folder)
    folders.withBoth(path, at, (location, aside) => renameSync(location, aside))
    failpoint('apply:aside')
    const checked = lastCheck.checkMovedFile(path, { from, location: folders.at(at) })
    if (checked !== undefined) {
      this.moved.push({ path, at, known: [from], stamp: checked.stamp })
      return true
    }
    if (!this.#putBack(path, at)) this.moved.push({ path, at, known: [], stamp: undefined })
    return false
  }

  #freeName(path: BytePath, folder: BytePath): BytePath {
    const { folders, tag } = this.#context
    for (let number = 0; ; number++) {
      const at = joinPath(folder, asideName(tag, { hash: hashOf(path), number }))
      // Only this operation uses such names; an earlier round may have.
      if (lstatSync(folders.at(at), { throwIfNoEntry: false }) === undefined) return at
    }
  }

  /** False if the path is taken, or its folder is gone. */
  #putBack(path: BytePath, at: BytePath): boolean {
    try {
      this.#context.folders.withBoth(path, at, (location, aside) =>
        moveWithoutOverwriting(aside, location),
      )
      return true
    } catch (error) {
      if (!(error instanceof FolderReplaced) && !hasCode(error, 'EEXIST', 'ENOENT', 'ENOTDIR'))
        throw error
      return false
    }
  }
}

type StoreBlob = (content: Buffer) => ObjectId

type RemovedAsides = {
  /** Files that still exist. If their content is stored now, it is listed as known. */
  readonly rest: readonly Aside[]
  readonly stored: ReadonlyMap<BytePath, FileEntry | LinkEntry>
}

export function removeAsides(
  asides: readonly Aside[],
  { folders, store }: { readonly folders: SafeFolders; readonly store: StoreBlob },
): RemovedAsides {
  const rest: Aside[] = []
  const stored = new Map<BytePath, FileEntry | LinkEntry>()
  const byFolder = new Map<BytePath, Aside[]>()
  for (const aside of asides) {
    const folder = parentOf(aside.at)
    const others = byFolder.get(folder)
    if (others === undefined) byFolder.set(folder, [aside])
    else others.push(aside)
  }
  visitFolders(folders, byFolder.keys(), (folder) =>
    whileWritable(folders, folder, () => {
      for (const aside of byFolder.get(folder) ?? []) {
        const location = folders.at(aside.at)
        const known = isKnown(aside, location)
        if (known === undefined) continue
        if (known) {
          unlinkSync(location)
          failpoint('asides:removed')
          continue
        }
        // A checkpoint has one content per path; a second one waits for the next call.
        const entry = stored.has(aside.path) ? undefined : storeFile(location, store)
        if (entry !== undefined) stored.set(aside.path, entry)
        rest.push(entry === undefined ? aside : { ...aside, known: [entry], stamp: undefined })
      }
    }),
  )
  return { rest, stored }
}

/** Finds the files that an interrupted rewind moved aside. Its journal has their paths and contents. */
export function findAsides(
  folders: SafeFolders,
  left: {
    readonly tag: string
    readonly sweep: readonly BytePath[]
    readonly known: ReadonlyMap<BytePath, Aside['known']>
  },
): Aside[] {
  const byHash = new Map([...left.known.keys()].map((path) => [hashOf(path), path]))
  const prefix = asidePrefix(left.tag)
  const found: Aside[] = []
  visitFolders(folders, left.sweep, (folder) => {
    for (const name of listFolder(folders.listable(folder))?.keys() ?? []) {
      if (!name.startsWith(prefix)) continue
      const path = byHash.get(name.slice(prefix.length, prefix.length + HASH_DIGITS))
      if (path === undefined) continue
      const known = left.known.get(path) ?? []
      found.push({ path, at: joinPath(folder, name), known, stamp: undefined })
    }
  })
  return found
}

/** Undefined if the file is gone or keeps changing. */
function storeFile(location: string | Buffer, store: StoreBlob): FileEntry | LinkEntry | undefined {
  try {
    if (lstatSync(location).isSymbolicLink())
      return { type: 'link', blob: store(readlinkSync(location, { encoding: 'buffer' })) }
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
  const path = typeof location === 'string' ? location : location.toString('latin1')
  const read = readStable(path, MAX_SAVED_BYTES)
  if (typeof read === 'string') return undefined
  return { type: 'file', blob: store(read.content), mode: Number(read.stats.mode) & 0o7777 }
}

/** If the rewind itself made the folder writable, the journal has its mode. */
function whileWritable(folders: SafeFolders, folder: BytePath, use: () => void): void {
  const fd = folders.descriptor(folder)
  const stats = fstatSync(fd)
  const mode = stats.mode & 0o7777
  if ((mode & 0o300) === 0o300 || !mayChangeMode(stats)) {
    use()
    return
  }
  fchmodSync(fd, mode | 0o700)
  try {
    use()
  } finally {
    fchmodSync(fd, mode)
  }
}

/** Whether its content is in a checkpoint; undefined if the file is gone. */
function isKnown({ known, stamp }: Aside, location: string | Buffer): boolean | undefined {
  const stats = lstatSync(location, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (stamp !== undefined && isSameMoved(stamp, stats)) return true
  if (!stats.isFile() && !stats.isSymbolicLink()) return false
  const type = stats.isFile() ? 'file' : 'link'
  const id = contentIdOf(location, stats)
  return known.some((entry) => entry.type === type && entry.blob === id)
}

function isSameMoved(stamp: MovedStamp, stats: BigIntStats): boolean {
  return (
    isSameNumber(stamp.mtimeNs, stats.mtimeNs) &&
    stamp.size === stats.size &&
    isSameNumber(stamp.ino, stats.ino)
  )
}

function hashOf(path: BytePath): string {
  return createHash('sha1').update(path, 'latin1').digest('hex').slice(0, HASH_DIGITS)
}
