// Lists the names in a folder, as bytes.
import { type Dirent, readdirSync } from 'node:fs'
import {
  type BytePath,
  bytePath,
  bytePathFromBytes,
  fsPath,
  hasCode,
} from '../../../model/index.js'
import { isSameNumber, isUnreadable } from '../stat-cache/stats.js'
import { openFolder } from './verified-folder.js'

export type ListedType = 'folder' | 'file' | 'special' | 'other'
export type Listed = ReadonlyMap<BytePath, ListedType>

/** The listing of a folder that was removed or moved away. It says nothing about the folder's contents. */
export const VANISHED: Listed = new Map()

/** `unstable`: another folder, a link or a file was at the path while the folder was read. */
export type ListFault = 'unreadable' | 'unstable'

/** Lists the folder only if it still has this inode. */
export function listVerified(path: string, ino: bigint): Listed | ListFault {
  const folder = openFolder(path)
  if (typeof folder === 'string') {
    if (folder === 'gone') return VANISHED
    return folder === 'unreadable' ? folder : 'unstable'
  }
  try {
    if (!isSameNumber(folder.inode(), ino)) return 'unstable'
    const listed = listFolder(folder.path) ?? 'unreadable'
    return folder.isStill() ? listed : 'unstable'
  } finally {
    folder.close()
  }
}

/** Undefined if the folder cannot be read. */
export function listFolder(path: string): Listed | undefined {
  const listed = new Map<BytePath, ListedType>()
  try {
    const entries = readdirSync(fsPath(path), { withFileTypes: true })
    // Node replaces invalid UTF-8 by U+FFFD; only then is the slower listing as bytes needed.
    if (entries.some(({ name }) => name.includes('\ufffd'))) {
      const exact = readdirSync(fsPath(path), { withFileTypes: true, encoding: 'buffer' })
      for (const entry of exact) listed.set(bytePathFromBytes(entry.name), typeOf(entry))
    } else {
      for (const entry of entries) listed.set(bytePath(entry.name), typeOf(entry))
    }
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'ELOOP')) return VANISHED
    if (isUnreadable(error)) return undefined
    throw error
  }
  return listed
}

function typeOf(entry: Dirent<string> | Dirent<Buffer>): ListedType {
  if (entry.isDirectory()) return 'folder'
  if (entry.isFile()) return 'file'
  return entry.isFIFO() || entry.isSocket() || entry.isBlockDevice() || entry.isCharacterDevice()
    ? 'special'
    : 'other'
}
