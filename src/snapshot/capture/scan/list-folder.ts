// The names in a folder, as bytes.
import { type Dirent, readdirSync } from 'node:fs'
import { type BytePath, bytePath, bytePathOf, fsPath, hasCode } from '../../../model/index.js'
import { isSameNumber, isUnreadable } from '../stat-cache/stats.js'
import { openFolder } from './verified-folder.js'

export type ListedType = 'folder' | 'file' | 'special' | 'other'
export type Listed = ReadonlyMap<BytePath, ListedType>

/** What a folder holds that has gone, or was moved away: nothing was seen of it, so nothing is known of it. */
export const VANISHED: Listed = new Map()

/** `unstable`: another folder, a link or a file is at the path, or was while the folder was read. */
export type ListFault = 'unreadable' | 'unstable'

/** The names in the folder that had this inode when it was last checked, and in no other. */
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
    // Node puts U+FFFD where a name is not UTF-8; only then is the slower listing by bytes needed.
    if (entries.some(({ name }) => name.includes('\ufffd'))) {
      const exact = readdirSync(fsPath(path), { withFileTypes: true, encoding: 'buffer' })
      for (const entry of exact) listed.set(bytePathOf(entry.name), typeOf(entry))
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
