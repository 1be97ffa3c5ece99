// A file that a rewind replaces or removes is first moved aside under a reserved name. So the check against the safety checkpoint
// is made on a file that cannot be reached by its path any more (I3). It stays there until everything else is done: a program
// that has it open may still write to it.
import { createHash } from 'node:crypto'
import { type BigIntStats, lstatSync, renameSync } from 'node:fs'
import {
  type BytePath,
  type FileEntry,
  hasCode,
  joinPath,
  type LinkEntry,
  parentOf,
  type RestorePlan,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { asideName, asidePrefix } from '../capture/capture-target.js'
import { isSameNumber } from '../capture/stat-cache/stats.js'
import { moveWithoutOverwriting } from './move-file.js'
import { FolderReplaced, type SafeFolders } from './safe-folders.js'
import { contentIdOf, type Recheck } from './recheck.js'

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

export type AsideContext = {
  readonly folders: SafeFolders
  readonly tag: string
  readonly lastCheck: Recheck
  readonly beforeWriteIn: (folder: BytePath) => void
}

/** The folders that a plan removes or replaces by something else: nothing can stay in them. */
export function removedFolders({ write, remove }: Pick<RestorePlan, 'write' | 'remove'>) {
  const replaced = write.filter(({ from, to }) => from?.type === 'folder' && to.type !== 'folder')
  const removed = remove.filter(({ from }) => from.type === 'folder')
  return new Set<BytePath>([...replaced, ...removed].map(({ path }) => path))
}

/** The nearest folder above a path that stays. */
export function nearestStayingFolder(path: BytePath, going: ReadonlySet<BytePath>): BytePath {
  let folder = parentOf(path)
  while (going.has(folder)) folder = parentOf(folder)
  return folder
}

export class Asides {
  readonly #context: AsideContext
  readonly #going: ReadonlySet<BytePath>
  readonly moved: Aside[] = []

  constructor(context: AsideContext, going: ReadonlySet<BytePath>) {
    this.#context = context
    this.#going = going
  }

  /** False if the path did not match the safety checkpoint. Then the file is moved back, unless the path is taken. */
  move(path: BytePath, from: FileEntry | LinkEntry): boolean {
    const { folders, lastCheck, beforeWriteIn } = this.#context
    const folder = nearestStayingFolder(path, this.#going)
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

/** Maps a reserved name to its path among `paths`; undefined for any other name. */
export function pathsByAsideName(
  tag: string,
  paths: readonly BytePath[],
): (name: string) => BytePath | undefined {
  const byHash = new Map(paths.map((path) => [hashOf(path), path]))
  const prefix = asidePrefix(tag)
  return (name) =>
    name.startsWith(prefix)
      ? byHash.get(name.slice(prefix.length, prefix.length + HASH_DIGITS))
      : undefined
}

/** Whether its content is in a checkpoint; undefined if the file is gone. */
export function isKnown({ known, stamp }: Aside, location: string | Buffer): boolean | undefined {
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

const HASH_DIGITS = 12

function hashOf(path: BytePath): string {
  return createHash('sha1').update(path, 'latin1').digest('hex').slice(0, HASH_DIGITS)
}
