// Reads files of the project so that nothing from outside is captured, even if another process replaces a parent folder by
// a link. Every system call resolves a path again, so the folder is opened once and verified, and its entries are reached
// through the descriptor. Systems without /proc only narrow the race: there the folder is checked before and after
// (docs/reference/limits.md).
import { closeSync, constants, fstatSync, lstatSync, openSync, readlinkSync } from 'node:fs'
import { fsPath, hasCode } from '../../../model/index.js'
import { HAS_DESCRIPTOR_PATHS } from '../../../system/index.js'
import { identityOf, isSameFolder } from '../../folders/same-folder.js'
import { openForReading, type ReadFault } from '../hash/read-file.js'
import { isUnreadable } from '../stat-cache/stats.js'

/** Linux only, so Node has no constant for it. Needs no permission to list the folder. */
const O_PATH = 0o10_000_000
const FOLDER_FLAGS = O_PATH | (constants.O_DIRECTORY ?? 0) | (constants.O_NOFOLLOW ?? 0)

export type OpenFolder = {
  /** Leads to this folder even after it is moved. */
  readonly path: string
  inode(): bigint
  /** False if data read since may come from another folder. */
  isStill(): boolean
  close(): void
}

/** Opens the folder at an absolute path. `unstable` if a part of the path is a link or a file. */
export function openFolder(
  path: string,
  hasDescriptorPaths = HAS_DESCRIPTOR_PATHS,
): OpenFolder | ReadFault {
  try {
    return hasDescriptorPaths ? openDescriptor(path) : checkParts(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return 'gone'
    if (hasCode(error, 'ELOOP', 'ENOTDIR')) return 'unstable'
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

/** Reaches entries of folders. Keeps the last folder open, since most entries are in the same folder as the previous one. */
export class VerifiedFolder {
  readonly #hasDescriptorPaths: boolean
  #path = ''
  #open: OpenFolder | undefined

  /** Tests pass false to get the behavior of other systems. */
  constructor(hasDescriptorPaths = HAS_DESCRIPTOR_PATHS) {
    this.#hasDescriptorPaths = hasDescriptorPaths
  }

  /** Calls `read` with a safe path to the entry. Returns its result, or why the folder cannot be used. */
  read<T>(path: string, read: (path: string) => T): T | ReadFault {
    const slash = path.lastIndexOf('/')
    const folder = this.#enter(path.slice(0, slash) || '/')
    if (typeof folder === 'string') return folder
    const result = read(`${folder.path}/${path.slice(slash + 1)}`)
    return folder.isStill() ? result : 'unstable'
  }

  /** The caller closes the descriptor. */
  openFile(path: string): number | ReadFault {
    let fd: number | ReadFault | undefined
    const opened = this.read(path, (at) => (fd = openForReading(at)))
    if (typeof fd === 'number' && opened !== fd) closeSync(fd)
    return opened
  }

  /** Closes the folder; later reads verify it again. */
  leave(): void {
    this.#open?.close()
    this.#open = undefined
    this.#path = ''
  }

  #enter(path: string): OpenFolder | ReadFault {
    if (this.#open !== undefined && this.#path === path) return this.#open
    this.leave()
    const folder = openFolder(path, this.#hasDescriptorPaths)
    if (typeof folder === 'string') return folder
    this.#open = folder
    this.#path = path
    return folder
  }
}

function openDescriptor(path: string): OpenFolder {
  const fd = openAt(path)
  return {
    path: descriptorPath(fd),
    inode: () => fstatSync(fd, { bigint: true }).ino,
    isStill: () => true,
    close: () => closeSync(fd),
  }
}

function openAt(path: string): number {
  const fd = openSync(fsPath(path), FOLDER_FLAGS)
  let isAtPath = false
  try {
    // The kernel's path of the folder differs if a link was followed.
    isAtPath = readlinkSync(descriptorPath(fd), 'latin1') === path
  } finally {
    if (!isAtPath) closeSync(fd)
  }
  return isAtPath ? fd : openPartByPart(path)
}

/** A case-insensitive file system may report another spelling of the path: then check that no part is a link. */
function openPartByPart(path: string): number {
  let fd = openSync('/', FOLDER_FLAGS)
  for (const name of path.split('/').filter((part) => part !== '')) {
    const above = fd
    try {
      fd = openSync(fsPath(`${descriptorPath(above)}/${name}`), FOLDER_FLAGS)
    } finally {
      closeSync(above)
    }
  }
  return fd
}

function descriptorPath(fd: number): string {
  return `/proc/self/fd/${fd}`
}

function checkParts(path: string): OpenFolder {
  for (let part = path; part !== ''; part = part.slice(0, part.lastIndexOf('/'))) {
    if (!lstatSync(fsPath(part)).isDirectory()) throw notFolder()
  }
  const identity = identityOf(path)
  if (identity === undefined) throw notFolder()
  const isStill = () => isSameFolder(identityOf(path), identity)
  return { path, inode: () => identity.ino, isStill, close: () => undefined }
}

function notFolder(): Error {
  return Object.assign(new Error('Not a folder'), { code: 'ENOTDIR' })
}
