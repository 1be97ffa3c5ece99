// Reads one file of a checkpoint, byte for byte.
import * as z from 'zod/mini'
import { nearest } from '../../base/index.js'
import {
  type BytePath,
  type FilesCheckpoint,
  isInside,
  nameOf,
  pathText,
  printablePath,
  SavestateError,
  SKIP_REASONS,
} from '../../model/index.js'
import { SnapshotFiles, type StoredFile } from '../../snapshot/index.js'
import { findKnownProject, type ProjectContext } from '../operation/context.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import { bringNamedFiles } from './files-here.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { resolveEnds } from './compared-ends.js'
import { resolve, withFiles } from './resolve-ref.js'
import { parseProjectPath } from '../operation/project-path.js'

export type FileResult = {
  readonly checkpoint: string
  /** Relative to the project. */
  readonly path: string
  readonly type: 'file' | 'link'
  /** Octal, as in `644`; null for a link. */
  readonly mode: string | null
  readonly size: number
  /** For a link: its target. */
  readonly content: Uint8Array
}

/** A file of the folder. */
export type FileNow = Omit<FileResult, 'checkpoint'>

/** Finding a similar name takes too long among more paths. */
const MAX_COMPARED = 10_000
/** How many names a message lists. */
const MAX_NAMES = 8

export const file = projectOperation({
  name: 'file',
  summary: 'Read one file of a checkpoint',
  effect: 'reads',
  input: () => z.strictObject({ ref: z.string(), path: z.string() }),
  async run(context, { ref, path: text }, callbacks): Promise<FileResult> {
    await recoverIfNeeded(context, callbacks)
    const path = parseProjectPath(text)
    await bringNamedFiles(context, [ref])
    // A prune must not remove the objects while they are read.
    return context.objects.shared(async () => {
      const checkpoint = withFiles(resolve(context.ledger, findKnownProject(context), ref))
      refuseDamagedFiles(context.ledger, checkpoint, [path])
      const files = new SnapshotFiles(context.snapshots.gitDir)
      try {
        const found = await files.read(checkpoint.snapshot.tree, path)
        if (found === undefined) throw await explainMissing(context, { checkpoint, path, files })
        if (found.type === 'folder') throw folderError(found.names, path)
        return { checkpoint: checkpoint.id, ...viewFile(path, found) }
      } finally {
        files.close()
      }
    })
  },
})

/** The same for the folder as it is now. Only files that a checkpoint would have can be read: none that is ignored or secret. */
export const fileNow = projectOperation({
  name: 'fileNow',
  summary: 'Read one file of the folder, as the next checkpoint would have it',
  effect: 'reads',
  input: () => z.strictObject({ path: z.string(), since: z.string() }),
  async run(context, { path: text, since }, callbacks): Promise<FileNow> {
    await recoverIfNeeded(context, callbacks)
    const path = parseProjectPath(text)
    // A prune must not remove the objects while they are read.
    return context.objects.shared(async () => {
      const ends = { from: since, previous: false }
      const { after } = await resolveEnds(context, ends, { paths: [path], callbacks })
      const files = new SnapshotFiles(context.snapshots.gitDir)
      try {
        const found = await files.read(after, path)
        if (found === undefined)
          throw new SavestateError('BAD_INPUT', `The folder has no ${printablePath(path)} to save`)
        if (found.type === 'folder') throw folderError(found.names, path)
        return viewFile(path, found)
      } finally {
        files.close()
      }
    })
  },
})

function viewFile(
  path: BytePath,
  found: Exclude<StoredFile, { readonly type: 'folder' }>,
): FileNow {
  return {
    path: pathText(path),
    type: found.type,
    mode: found.type === 'file' ? found.mode.toString(8) : null,
    size: found.content.length,
    content: found.content,
  }
}

function folderError(names: readonly BytePath[], path: BytePath): SavestateError {
  const shown = names.slice(0, MAX_NAMES).map(printablePath).join(', ')
  const more = names.length > MAX_NAMES ? ` and ${names.length - MAX_NAMES} more` : ''
  const shownPath = path === '' ? 'The path' : printablePath(path)
  return new SavestateError('BAD_INPUT', `${shownPath} is a folder in this checkpoint`, {
    hint: names.length === 0 ? 'It is empty.' : `It contains: ${shown}${more}. Name one of them.`,
  })
}

/** For a path that a checkpoint does not have: the error that says why, or which similar paths it has. */
export async function explainMissing(
  { ledger }: ProjectContext,
  {
    checkpoint,
    path,
    files,
  }: {
    readonly checkpoint: FilesCheckpoint
    readonly path: BytePath
    readonly files: SnapshotFiles
  },
): Promise<SavestateError> {
  const skipped = ledger.checkpoints
    .details(checkpoint.id)
    ?.skippedPaths.find((one) => isInside(path, one.path))
  if (skipped !== undefined) {
    const what = skipped.path === path ? '' : `${printablePath(skipped.path)} is `
    return new SavestateError(
      'CHECKPOINT_PARTIAL',
      `${printablePath(path)} was not saved in this checkpoint: ${what}${SKIP_REASONS[skipped.reason]}`,
      { hint: `\`savestate show ${checkpoint.id}\` lists the paths that were not saved.` },
    )
  }
  const near = similarPaths(path, await files.paths(checkpoint.snapshot.tree)).map(printablePath)
  return new SavestateError('BAD_INPUT', `This checkpoint has no ${printablePath(path)}`, {
    hint:
      near.length === 0
        ? 'Paths are relative to the current folder.'
        : `Did you mean ${near.join(', ')}?`,
  })
}

/** Files of the same name in other folders; otherwise the file with the most similar path or name. */
function similarPaths(path: BytePath, all: readonly BytePath[]): readonly BytePath[] {
  const name = nameOf(path).toLowerCase()
  const same = all.filter((one) => nameOf(one).toLowerCase() === name)
  if (same.length > 0) return same.slice(0, MAX_NAMES)
  if (all.length > MAX_COMPARED) return []
  const alike = nearest(path, all)
  if (alike !== undefined) return [alike as BytePath]
  const names = new Map(all.map((one) => [nameOf(one).toLowerCase(), one]))
  const found = names.get((nearest(name, [...names.keys()]) ?? '') as BytePath)
  return found === undefined ? [] : [found]
}
