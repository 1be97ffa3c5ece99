// Removes what an attempt at a rewind has staged, in this process or in a killed one. Another process may have made the folder
// inaccessible since.
import { chmodSync, closeSync, constants, fstatSync, openSync, unlinkSync } from 'node:fs'
import { type BytePath, hasCode, joinPath } from '../../model/index.js'
import { listFolder } from '../capture/scan/list-folder.js'
import { temporaryPrefix } from '../capture/capture-target.js'
import { O_PATH } from './move-file.js'
import { FolderReplaced, HAS_DESCRIPTOR_PATHS, type SafeFolders } from './safe-folders.js'
import { mayChangeMode } from './special-bits.js'
import { withUserPath } from './user-path-error.js'

type Staging = {
  /** Folders that an attempt may have staged in. */
  readonly sweep: readonly BytePath[]
  /** Marks the operation's temporary files. */
  readonly tag: string
  readonly beforeWriteIn: (folder: BytePath) => void
}

export function removeLeftovers(folders: SafeFolders, staging: Staging): void {
  visitFolders(folders, staging.sweep, (folder) => removeIn(folder, folders, staging))
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

function removeIn(folder: BytePath, folders: SafeFolders, { tag, beforeWriteIn }: Staging): void {
  for (const name of listFolder(folders.listable(folder))?.keys() ?? []) {
    if (!name.startsWith(temporaryPrefix(tag))) continue
    const path = joinPath(folder, name)
    try {
      beforeWriteIn(folder)
      unlinkSync(folders.at(path))
    } catch (error) {
      throw withUserPath(error, path)
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
