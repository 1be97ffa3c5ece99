// The kinds of entries in a snapshot, and the reasons to leave a path out.
import type { ObjectId } from './ids.js'

export type FileEntry = { readonly type: 'file'; readonly blob: ObjectId; readonly mode: number }
export type LinkEntry = { readonly type: 'link'; readonly blob: ObjectId }
export type FolderEntry = { readonly type: 'folder'; readonly mode: number }
export type Entry = FileEntry | LinkEntry | FolderEntry

export const SKIP_REASONS = {
  ignored: 'excluded by an ignore file or a default exclude',
  secret: 'a secret, by its name or its content',
  'too-large': 'larger than the size limit',
  unreadable: 'cannot be read',
  unstable: 'kept changing while it was read',
  special: 'a socket, pipe or device',
  vcs: 'a version control folder',
  reserved: 'a name that git cannot store safely',
  store: 'the store itself',
  temporary: 'left by an interrupted rewind',
  forgotten: 'removed from history by `savestate forget`',
} as const

export type SkipReason = keyof typeof SKIP_REASONS
export type SkipCounts = Readonly<Partial<Record<SkipReason, number>>>

/** A path that exists and is not captured: I5 protects it. */
export type Uncaptured = {
  readonly type: 'uncaptured'
  readonly reason: SkipReason
  readonly isFolder: boolean
}

export function sameEntry(a: Entry, b: Entry): boolean {
  if (a.type === 'file') return b.type === 'file' && a.blob === b.blob && a.mode === b.mode
  if (a.type === 'link') return b.type === 'link' && a.blob === b.blob
  return b.type === 'folder' && a.mode === b.mode
}
