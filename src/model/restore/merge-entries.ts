// Merges the three versions of one path, as far as their contents need not be read. Pure. See docs/internals/history.md.
import { type Entry, type FileEntry, type FolderEntry, sameEntry } from '../entry.js'
import type { ObjectId } from '../ids.js'

/** How to decide paths that cannot be merged. */
export const CONFLICT_CHOICES = ['refuse', 'ours', 'theirs', 'markers'] as const
export type ConflictChoice = (typeof CONFLICT_CHOICES)[number]

/** An entry is undefined if the path does not exist in that version. */
export type ThreeEntries = {
  readonly base: Entry | undefined
  readonly ours: Entry | undefined
  readonly theirs: Entry | undefined
}

export type EntryMerge =
  | { readonly type: 'entry'; readonly entry: Entry | undefined }
  /** The contents of three files have to be merged. */
  | {
      readonly type: 'contents'
      readonly mode: number
      readonly blobs: Readonly<Record<'base' | 'ours' | 'theirs', ObjectId>>
    }
  | { readonly type: 'conflict'; readonly reason: string }

/** The start of the reason for keeping a path that cannot be merged. */
export const KEPT_IN_MERGE = 'kept as it is: '
/** The reason for writing a file that the user has to edit. */
export const HAS_MARKERS = 'has conflict markers'

/** The reason for writing a file that the user and others have changed. */
export const MERGED_WITH_MINE = 'merged with your changes'

export const BOTH_CHANGED = 'the same lines were changed since'
export const IS_BINARY = 'binary, and changed since'

export function mergeEntries({ base, ours, theirs }: ThreeEntries): EntryMerge {
  if (isSame(ours, base)) return { type: 'entry', entry: theirs }
  if (isSame(ours, theirs) || isSame(base, theirs)) return { type: 'entry', entry: ours }
  if (ours === undefined) return conflict('removed since')
  if (theirs === undefined) return conflict('changed since')
  // Two folders with the same name are one folder.
  if (base === undefined)
    return ours.type === 'folder' && theirs.type === 'folder'
      ? { type: 'entry', entry: ours }
      : conflict('created again since')
  if (ours.type !== theirs.type || ours.type !== base.type) return conflict('of another type since')
  if (ours.type === 'link') return conflict('a link that was changed since')
  if (theirs.type === 'link' || base.type === 'link') return conflict('of another type since')
  const mode = mergedMode({ base, ours, theirs })
  if (mode === undefined) return conflict('its mode was changed since')
  if (ours.type === 'folder' || theirs.type === 'folder' || base.type === 'folder')
    return { type: 'entry', entry: { type: 'folder', mode } }
  const blob = unmergedBlob({ base, ours, theirs })
  if (blob !== undefined) return { type: 'entry', entry: { type: 'file', blob, mode } }
  const blobs = { base: base.blob, ours: ours.blob, theirs: theirs.blob }
  return { type: 'contents', mode, blobs }
}

function isSame(a: Entry | undefined, b: Entry | undefined): boolean {
  return a === undefined || b === undefined ? a === b : sameEntry(a, b)
}

function conflict(reason: string): EntryMerge {
  return { type: 'conflict', reason }
}

type Three<One> = Readonly<Record<'base' | 'ours' | 'theirs', One>>

function mergedMode({ base, ours, theirs }: Three<FileEntry | FolderEntry>): number | undefined {
  if (ours.mode === base.mode || ours.mode === theirs.mode) return theirs.mode
  return theirs.mode === base.mode ? ours.mode : undefined
}

/** The blob of a file of which at most one side has another content than the base. */
function unmergedBlob({ base, ours, theirs }: Three<FileEntry>): ObjectId | undefined {
  if (ours.blob === base.blob || ours.blob === theirs.blob) return theirs.blob
  return theirs.blob === base.blob ? ours.blob : undefined
}
