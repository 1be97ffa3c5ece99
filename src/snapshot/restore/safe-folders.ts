// Keeps folders of the project open by descriptor, so that a write or removal happens in that very folder even if a link replaces
// one of its parents meanwhile (I4). Linux can address a descriptor as a path; elsewhere each component is checked just before
// use (docs/reference/limits.md).
import { chmodSync, closeSync, constants, fstatSync, lstatSync, openSync } from 'node:fs'
import {
  type BytePath,
  fsPath,
  hasCode,
  isError,
  isInside,
  nameOf,
  parentOf,
  printablePath,
  ROOT,
} from '../../model/index.js'
import { freeDescriptors, HAS_DESCRIPTOR_PATHS } from '../../system/index.js'
import { absolute } from '../capture/capture-target.js'
import { isSameNumber } from '../capture/stat-cache/stats.js'
import { syncAndClose } from '../objects/loose.js'

export { HAS_DESCRIPTOR_PATHS }
// Missing in node:fs; the same number on every Linux.
export const O_PATH = 0o10000000
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
      throw hasCode(error, 'ELOOP', 'ENOTDIR') ? new FolderReplaced(folder) : error
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

/** Visits the folders that exist. An inaccessible folder of ours is made accessible meanwhile. */
export function visitFolders(
  folders: SafeFolders,
  paths: Iterable<BytePath>,
  visit: (folder: BytePath) => void,
): void {
  for (const folder of paths) {
    const closeAgain: (() => void)[] = []
    try {
      for (const above of folders.has(folder) ? [] : waysTo(folder)) {
        // A folder that can be listed may still lack search permission.
        const needed = above === folder ? 0o700 : 0o500
        const close = openClosed(folders, { folder: above, needed })
        if (close !== undefined) closeAgain.push(close)
        else if (!folders.has(above)) break
      }
      if (folders.has(folder)) visit(folder)
    } finally {
      for (const close of closeAgain.reverse()) close()
    }
  }
}

/** The folder and those above it, outermost first. */
function waysTo(folder: BytePath): BytePath[] {
  const names = folder.split('/')
  return names.map((_, at) => names.slice(0, at + 1).join('/') as BytePath)
}

/**
 * Makes an inaccessible folder of ours accessible for a short time: it is in no plan and no journal. Returns a function that
 * reverts it; undefined if the folder is accessible, missing, or not ours.
 */
function openClosed(
  folders: SafeFolders,
  { folder, needed }: { readonly folder: BytePath; readonly needed: number },
): (() => void) | undefined {
  if (!HAS_DESCRIPTOR_PATHS) return undefined
  let fd: number
  try {
    fd = openSync(folders.at(folder), O_PATH | constants.O_NOFOLLOW | constants.O_DIRECTORY)
  } catch (error) {
    if (error instanceof FolderReplaced) return undefined
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES')) return undefined
    throw error
  }
  const stats = fstatSync(fd)
  const mode = stats.mode & 0o7777
  const location = `/proc/self/fd/${fd}`
  if ((mode & needed) === needed || !mayChangeMode(stats)) {
    closeSync(fd)
    return undefined
  }
  chmodSync(location, mode | 0o700)
  return () => {
    // A cached descriptor could not reach anything in it.
    folders.forget(folder)
    chmodSync(location, mode)
    closeSync(fd)
  }
}

export function mayChangeMode({ uid }: { readonly uid: number }): boolean {
  const user = process.geteuid?.()
  return user === undefined || user === 0 || user === uid
}

const OUR_PATHS = /'\/proc\/self\/fd\/[^']*'(?: -> '\/proc\/self\/fd\/[^']*')?/g

/**
 * The same error with the path in the project that the step was about. System errors name the path of the call; ours go through
 * descriptors and temporary names, which mean nothing to users.
 */
export function withUserPath(error: unknown, path: BytePath): unknown {
  if (!isError(error)) return error
  const shown = `'${printablePath(path) || '.'}'`
  error.message = error.message.replace(OUR_PATHS, () => shown)
  // A call on a descriptor has no path.
  if ('syscall' in error && !error.message.endsWith("'")) error.message += ` ${shown}`
  return error
}
