// The calls of the capture thread that show the lines that differ between two snapshots.
import type { BlobReader } from '../git/blob-reader.js'
import { EMPTY_TREE } from '../objects/object-id.js'
import type { FilePatchRequest, SnapshotPatchRequest } from '../worker/capture-requests.js'
import type { SnapshotComparer } from './compare.js'
import { patchFile } from './file-patch.js'
import { patchText } from './patch.js'

type PatchSources = {
  readonly gitDir: string
  readonly blobs: BlobReader
  readonly headers: BlobReader
  readonly comparer: SnapshotComparer
}

export function patchCalls({ gitDir, blobs, headers, comparer }: PatchSources) {
  return {
    async patch({ before, after, ...how }: SnapshotPatchRequest) {
      const one = before === undefined ? EMPTY_TREE : (await comparer.parts(before)).files
      const { files } = await comparer.parts(after)
      return patchText(gitDir, { ...how, before: one, after: files })
    },

    /** One file of two snapshots; undefined if neither has the path. */
    async filePatch({ before, after, path, context }: FilePatchRequest) {
      const change = await comparer.changeAt(before, after, path)
      if (change === undefined) return undefined
      return {
        change,
        ...(await patchFile(change, { gitDir, blobs, headers, context, encoding: 'utf8' })),
      }
    },
  }
}
