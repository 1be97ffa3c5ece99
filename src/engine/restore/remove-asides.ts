// The last step of a rewind: removes the files that it moved aside, once a checkpoint contains them. If a program wrote to
// one of them meanwhile, a new safety checkpoint saves that content first (I3).
import {
  type BytePath,
  type Entry,
  type FileEntry,
  type FilesCheckpoint,
  type LinkEntry,
  printablePath,
  type Project,
} from '../../model/index.js'
import { type Applied, type Aside, measureSnapshot } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { stagingFolders, type StartedRestore } from './restore-journal.js'
import { saveDuringRestore } from './restore-record.js'

/** A program that still writes to a file after this many checkpoints of it may never stop. */
const ATTEMPTS = 5

/** Removes the files, except for those that a program keeps writing to. */
export async function removeAsides(
  context: StoreContext,
  project: Project,
  work: StartedRestore & Pick<Applied, 'asides'>,
): Promise<void> {
  const { journal, safety, callbacks } = work
  const { rootInode } = journal
  const base = safety.snapshot.tree
  let { asides } = work
  for (let attempt = 1; ; attempt++) {
    const { rest, saved } = await context.snapshots.removeAsides(project, {
      rootInode,
      asides,
      base,
    })
    if (rest.length === 0) return
    if (attempt === ATTEMPTS) return reportBusy(rest, callbacks)
    if (saved !== undefined) {
      const captured = await describeSnapshot(context, safety, saved.tree)
      const { id } = await saveDuringRestore(context, project, { captured, ...work })
      for (const path of saved.paths)
        callbacks.onWarning?.(
          `A program wrote to ${printablePath(path)} while it was being replaced. Checkpoint ${id} has the written content.`,
        )
    }
    asides = rest
  }
}

/** Finds and removes the asides of a rewind that failed or was killed. Call it before the folder is captured. */
export async function removeLeftAsides(
  context: StoreContext,
  project: Project,
  work: StartedRestore,
): Promise<void> {
  const { operation: tag, rootInode, entries } = work.journal
  const known = new Map<BytePath, (FileEntry | LinkEntry)[]>(
    entries.map(({ path, from, to }) => [path, [from, to].filter(isContent)]),
  )
  const sweep = stagingFolders(entries)
  const asides = await context.snapshots.findAsides(project, { tag, rootInode, sweep, known })
  if (asides.length > 0) await removeAsides(context, project, { ...work, asides })
}

function isContent(entry: Entry | null): entry is FileEntry | LinkEntry {
  return entry !== null && entry.type !== 'folder'
}

/** The snapshot of the safety checkpoint with another tree. */
async function describeSnapshot(
  { ledger, snapshots }: StoreContext,
  safety: FilesCheckpoint,
  tree: FilesCheckpoint['snapshot']['tree'],
) {
  const details = ledger.checkpoints.details(safety.id)
  const { skippedPaths = [], repositories = [], rules, owners } = details ?? {}
  const figures = await measureSnapshot(snapshots.gitDir, tree)
  const kept = { skippedPaths, repositories, rules, owners }
  return { snapshot: { ...safety.snapshot, ...figures, tree, ...kept }, lines: undefined }
}

function reportBusy(asides: readonly Aside[], callbacks: Callbacks): void {
  for (const { path, at } of asides)
    callbacks.onWarning?.(
      `A program keeps writing to the earlier ${printablePath(path)}, which it has open. That file is kept as ${printablePath(at)}.`,
    )
}
