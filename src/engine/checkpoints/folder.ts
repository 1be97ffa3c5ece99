// Lists one folder of a checkpoint, without reading the contents of its files.
import * as z from 'zod/mini'
import {
  type BytePath,
  hasCode,
  nameOf,
  parentOf,
  pathText,
  printablePath,
  ROOT,
  SavestateError,
  type SkipReason,
} from '../../model/index.js'
import { type FolderEntry, SnapshotFiles } from '../../snapshot/index.js'
import { findKnownProject } from '../operation/context.js'
import { bringNamedFiles } from './files-here.js'
import { projectOperation } from '../operation/operation.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { parseProjectPath } from '../operation/project-path.js'
import { explainMissing } from './file.js'
import { resolve, withFiles } from './resolve-ref.js'
import { formatMode } from './views.js'

export type FolderListing = {
  readonly checkpoint: string
  /** Relative to the project; empty for the project itself. */
  readonly path: string
  /** Folders first, then by name. */
  readonly entries: readonly {
    readonly name: string
    readonly type: 'file' | 'folder' | 'link'
    /** Null for a folder, and for a file that the store has lost. */
    readonly sizeBytes: number | null
    /** Octal; null for a link. */
    readonly mode: string | null
  }[]
  /** Entries of the folder that the checkpoint does not contain, with the reasons. */
  readonly skipped: readonly {
    readonly name: string
    readonly reason: SkipReason
    readonly sizeBytes: number | null
  }[]
}

export const folder = projectOperation({
  name: 'folder',
  summary: 'List one folder of a checkpoint',
  effect: 'reads',
  input: () => z.strictObject({ ref: z.string(), path: z.string() }),
  async run(context, { ref, path: text }, callbacks): Promise<FolderListing> {
    await recoverIfNeeded(context, callbacks)
    const path = text === '' ? ROOT : parseProjectPath(text)
    await bringNamedFiles(context, [ref])
    // A prune must not remove the objects while they are read.
    return context.objects.shared(async () => {
      const { ledger, snapshots } = context
      const checkpoint = withFiles(resolve(ledger, findKnownProject(context), ref))
      const files = new SnapshotFiles(snapshots.gitDir)
      try {
        const entries = await files.list(checkpoint.snapshot.tree, path)
        if (entries === undefined) {
          throw (await files.has(checkpoint.snapshot.tree, path))
            ? fileError(path)
            : await explainMissing(context, { checkpoint, path, files })
        }
        const skipped = ledger.checkpoints.details(checkpoint.id)?.skippedPaths ?? []
        return {
          checkpoint: checkpoint.id,
          path: pathText(path),
          entries: [...entries].sort(byTypeAndName).map(viewEntry),
          skipped: skipped
            .filter((one) => one.path !== ROOT && parentOf(one.path) === path)
            .map(({ path: inside, reason, sizeBytes }) => ({
              name: pathText(nameOf(inside)),
              reason,
              sizeBytes,
            })),
        }
      } catch (error) {
        // A folder whose files are lost can still be listed, so a mark alone is no reason to refuse it.
        if (hasCode(error, 'STORE_DAMAGED')) refuseDamagedFiles(ledger, checkpoint)
        throw error
      } finally {
        files.close()
      }
    })
  },
})

function viewEntry({ name, type, mode, sizeBytes }: FolderEntry): FolderListing['entries'][number] {
  return {
    name: pathText(name),
    type,
    sizeBytes: sizeBytes ?? null,
    mode: mode === undefined ? null : formatMode(mode),
  }
}

function byTypeAndName(a: FolderEntry, b: FolderEntry): number {
  const isFolder = ({ type }: FolderEntry) => Number(type === 'folder')
  return isFolder(b) - isFolder(a) || (a.name < b.name ? -1 : 1)
}

function fileError(path: BytePath): SavestateError {
  return new SavestateError(
    'BAD_INPUT',
    `${printablePath(path)} is not a folder in this checkpoint`,
    { hint: 'Read it as a file.' },
  )
}
