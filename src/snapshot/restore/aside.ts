// A file that a rewind replaces or removes is first moved aside, under a reserved name. So the check whether it is what the
// safety checkpoint holds is made on a file that no one reaches by its path any more (I3). It stays there until everything
// else is done: a program that has it open may still write to it.
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
import { placeWithoutOverwriting } from './place.js'
import { FolderReplaced, type SafeFolders } from './safe-folders.js'
import { contentIdOf, type LastCheck } from './recheck.js'

export type Aside = {
  readonly path: BytePath
  /** Where it is now. */
  readonly at: BytePath
  /** Contents that are in a checkpoint: with another one it must not be removed. */
  readonly known: readonly (FileEntry | LinkEntry)[]
  /** With this stamp it has the first of these contents. Undefined: its content has to be read. */
  readonly stamp: MovedStamp | undefined
}

/** Without ctime, which the move has changed. */
export type MovedStamp = Pick<BigIntStats, 'size' | 'mtimeNs' | 'ino'>

export type AsideContext = {
  readonly folders: SafeFolders
  readonly tag: string
  readonly lastCheck: LastCheck
  readonly beforeWriteIn: (folder: BytePath) => void
}

/** The folders that a plan removes or replaces by something else: nothing can be kept in them. */
export function foldersThatGo({ write, remove }: Pick<RestorePlan, 'write' | 'remove'>) {
  const replaced = write.filter(({ from, to }) => from?.type === 'folder' && to.type !== 'folder')
  const removed = remove.filter(({ from }) => from.type === 'folder')
  return new Set<BytePath>([...replaced, ...removed].map(({ path }) => path))
}

/** The nearest folder above a path that stays. */
export function folderThatStays(path: BytePath, going: ReadonlySet<BytePath>): BytePath {
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

  /** False if the path was not what the safety checkpoint holds. Then it is there again, unless something else is. */
  move(path: BytePath, from: FileEntry | LinkEntry): boolean {
    const { folders, lastCheck, beforeWriteIn } = this.#context
    const folder = folderThatStays(path, this.#going)
    beforeWriteIn(parentOf(path))
    beforeWriteIn(folder)
    if (!lastCheck.isThere(path, { from, place: folders.at(path) })) return false
    const at = this.#freeName(path, folder)
    folders.withBoth(path, at, (place, aside) => renameSync(place, aside))
    failpoint('apply:aside')
    const checked = lastCheck.checkMoved(path, { from, place: folders.at(at) })
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
      // No one else gives such names; this is about earlier rounds of the same operation.
      if (lstatSync(folders.at(at), { throwIfNoEntry: false }) === undefined) return at
    }
  }

  /** False if something is at the path by now, or its folder is gone. */
  #putBack(path: BytePath, at: BytePath): boolean {
    try {
      this.#context.folders.withBoth(path, at, (place, aside) =>
        placeWithoutOverwriting(aside, place),
      )
      return true
    } catch (error) {
      if (!(error instanceof FolderReplaced) && !hasCode(error, 'EEXIST', 'ENOENT', 'ENOTDIR'))
        throw error
      return false
    }
  }
}

/** The path that a reserved name was made for, among `paths`; undefined if it is no such name. */
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

/** Whether it has a content that is in a checkpoint; undefined if it is no longer there. */
export function isKnown({ known, stamp }: Aside, place: string | Buffer): boolean | undefined {
  const stats = lstatSync(place, { bigint: true, throwIfNoEntry: false })
  if (stats === undefined) return undefined
  if (stamp !== undefined && isSameMoved(stamp, stats)) return true
  if (!stats.isFile() && !stats.isSymbolicLink()) return false
  const type = stats.isFile() ? 'file' : 'link'
  const id = contentIdOf(place, stats)
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
