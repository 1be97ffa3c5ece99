// Keeps folders of the project open by descriptor, so that a write or removal happens in that very folder even if a link replaces
// one of its parents meanwhile (I4). Linux can address a descriptor as a path; elsewhere each component is checked just before
// use (docs/reference/limits.md).
import { closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import {
  type BytePath,
  fsPath,
  hasCode,
  isError,
  isInside,
  nameOf,
  parentOf,
  ROOT,
} from '../../model/index.js'
import { freeDescriptors, HAS_DESCRIPTOR_PATHS } from '../../system/index.js'
import { absolute } from '../capture/capture-target.js'
import { isSameNumber } from '../capture/stat-cache/stats.js'
import { syncAndClose } from '../objects/loose.js'

export { HAS_DESCRIPTOR_PATHS }
const FOLDER_FLAGS = constants.O_RDONLY | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)
const MAX_OPEN = 200
/** Folders use a quarter of the descriptors that the process may still open; the rest is for contents and other work. */
const SHARE = 4
const FILES_AT_ONCE = 64
/** The root, a folder, and its parent. */
const MIN_OPEN = 3

/** A folder of the project is no longer a folder, or no longer the same one. */
export class FolderReplaced extends Error {
  constructor(readonly path: BytePath) {
    super('A folder was replaced while it was being written to')
  }
}

/** Flushes the folders that exist. In groups: a path through a descriptor is valid only while the descriptor is open. */
export async function syncFolders(folders: SafeFolders, paths: Iterable<BytePath>): Promise<void> {
  const present = [...paths].filter((folder) => folders.has(folder))
  const { atOnce } = folders
  for (let at = 0; at < present.length; at += atOnce)
    await syncAndClose(present.slice(at, at + atOnce).map((folder) => folders.reopen(folder)))
}

export class SafeFolders {
  readonly #root: BytePath
  readonly #open = new Map<BytePath, number>()
  readonly #maxOpen: number
  /** How many files may be open at once besides the folders. */
  readonly atOnce: number

  /** `ino` is the root's inode when it was captured. */
  constructor(root: BytePath, ino: bigint) {
    this.#root = root
    const share = Math.floor(freeDescriptors() / SHARE)
    this.#maxOpen = Math.min(MAX_OPEN, Math.max(MIN_OPEN, share))
    this.atOnce = Math.min(FILES_AT_ONCE, Math.max(1, share))
    const fd = openSync(fsPath(root), FOLDER_FLAGS)
    this.#open.set(ROOT, fd)
    if (isSameNumber(fstatSync(fd, { bigint: true }).ino, ino)) return
    this.close()
    throw new FolderReplaced(ROOT)
  }

  /** The descriptor of a folder, opened without following links. */
  descriptor(folder: BytePath): number {
    const known = this.#open.get(folder)
    if (known !== undefined) return known
    // Opens the parents too; they are most likely needed next.
    this.descriptor(parentOf(folder))
    if (this.#open.size >= this.#maxOpen) this.#closeAllButAbove(folder)
    try {
      const fd = openSync(this.at(folder), FOLDER_FLAGS)
      this.#open.set(folder, fd)
      return fd
    } catch (error) {
      if (
        isError(error) &&
        'code' in error &&
        (error.code === 'ELOOP' || error.code === 'ENOTDIR')
      ) {
        throw new FolderReplaced(folder)
      }
      throw error
    }
  }

  /** False if the folder does not exist or is not accessible. */
  has(folder: BytePath): boolean {
    try {
      this.descriptor(folder)
      return true
    } catch (error) {
      if (error instanceof FolderReplaced || hasCode(error, 'ENOENT', 'EACCES')) return false
      throw error
    }
  }

  /** A second descriptor of a folder, which the caller closes. */
  reopen(folder: BytePath): number {
    if (folder !== ROOT) return openSync(this.at(folder), FOLDER_FLAGS)
    return openSync(
      HAS_DESCRIPTOR_PATHS ? this.at('.' as BytePath) : fsPath(this.#root),
      FOLDER_FLAGS,
    )
  }

  /** A path for `node:fs` that leads to this entry of its folder and nowhere else. */
  at(path: BytePath): string | Buffer {
    const folder = parentOf(path)
    if (HAS_DESCRIPTOR_PATHS)
      return fsPath(`/proc/self/fd/${this.descriptor(folder)}/${nameOf(path)}`)
    for (let part = folder; part !== ROOT; part = parentOf(part)) {
      const stats = lstatSync(fsPath(absolute({ root: this.#root }, part)))
      if (!stats.isDirectory()) throw new FolderReplaced(part)
    }
    return fsPath(absolute({ root: this.#root }, path))
  }

  /** Runs `use` with the paths of two entries. Opening the folder of one may close that of the other, so one is reopened. */
  withBoth(
    one: BytePath,
    other: BytePath,
    use: (one: string | Buffer, other: string | Buffer) => void,
  ): void {
    if (!HAS_DESCRIPTOR_PATHS || parentOf(one) === parentOf(other)) {
      use(this.at(one), this.at(other))
      return
    }
    const fd = this.reopen(parentOf(other))
    try {
      use(this.at(one), fsPath(`/proc/self/fd/${fd}/${nameOf(other)}`))
    } finally {
      closeSync(fd)
    }
  }

  /** A path for listing a folder, even if it was moved. */
  listable(folder: BytePath): string {
    if (HAS_DESCRIPTOR_PATHS) return `/proc/self/fd/${this.descriptor(folder)}`
    return absolute({ root: this.#root }, folder)
  }

  /** Call this for a folder that was removed or replaced, so that it is opened again. */
  forget(folder: BytePath): void {
    for (const [path, fd] of this.#open) {
      if (path !== folder && !path.startsWith(`${folder}/`)) continue
      closeSync(fd)
      this.#open.delete(path)
    }
  }

  close(): void {
    for (const fd of this.#open.values()) closeSync(fd)
    this.#open.clear()
  }

  /**
   * Keeps the folders above `folder` open if there are enough descriptors: reopening them for every step takes time quadratic in
   * the depth. The root always stays open, because only its inode is known.
   */
  #closeAllButAbove(folder: BytePath): void {
    const above = parentOf(folder)
    const fits = folder.split('/').length < this.#maxOpen
    for (const [path, fd] of this.#open) {
      if (path === ROOT || path === above || (fits && isInside(folder, path))) continue
      closeSync(fd)
      this.#open.delete(path)
    }
  }
}
