// Repeats the user's changes of a file on another version of it (docs/internals/history.md#keep-the-users-lines).
import { type Edit, type FileEntry, mergeEntries, type ObjectId } from '../../model/index.js'
import type { MergedContents, Version } from './merge-contents.js'

/** Undefined if a change cannot be merged. The new blobs are only in `made`. */
export async function applyEdits(
  start: FileEntry,
  edits: readonly Edit[],
  {
    mergeBlobs,
    addBlob,
  }: {
    readonly mergeBlobs: (blobs: Readonly<Record<Version, ObjectId>>) => Promise<MergedContents>
    readonly addBlob: (content: Buffer) => ObjectId
  },
): Promise<FileEntry | undefined> {
  let file = start
  for (const { before, after } of edits) {
    const merge = mergeEntries({ base: before, ours: after, theirs: file })
    if (merge.type === 'conflict') return undefined
    if (merge.type === 'entry') {
      if (merge.entry?.type !== 'file') return undefined
      file = merge.entry
      continue
    }
    const merged = await mergeBlobs(merge.blobs)
    if (merged.type !== 'merged') return undefined
    file = { type: 'file', blob: addBlob(merged.content), mode: merge.mode }
  }
  return file
}
