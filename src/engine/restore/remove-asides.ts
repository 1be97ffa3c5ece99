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
import { type Journal, stagingFolders } from './restore-journal.js'
import { saveDuringRestore } from './restore-record.js'

/** A program that still writes to a file after this many checkpoints of it may never stop. */
const ATTEMPTS = 5

type Rewind = {
  readonly rootInode: string
  readonly safety: FilesCheckpoint
  readonly reason: string
  readonly callbacks: Callbacks
}

/** Removes the files, except for those that a program keeps writing to. */
export async function removeAsides(
  context: StoreContext,
  project: Project,
  { rootInode, safety, reason, callbacks, ...applied }: Rewind & Pick<Applied, 'asides'>,
): Promise<void> {
  const { snapshots } = context
  const base = safety.snapshot.tree
  let { asides } = applied
  for (let attempt = 1; ; attempt++) {
    const { rest, saved } = await snapshots.removeAsides(project, {
      rootInode,
      asides,
      base,
    })
    if (rest.length === 0) return
    if (attempt === ATTEMPTS) return reportBusy(rest, callbacks)
    if (saved !== undefined) {
      const captured = await describeSnapshot(context, safety, saved.tree)
      const { id } = await saveDuringRestore(context, project, { captured, safety, reason })
      reportSaved(saved.paths, { checkpoint: id, callbacks })
    }
    asides = rest
  }
}

/** Finds and removes the asides of a rewind that failed or was killed. Call it before the folder is captured. */
export async function removeLeftAsides(
  context: StoreContext,
  project: Project,
  {
    journal,
    safety,
    callbacks,
  }: {
    readonly journal: Journal
    readonly safety: FilesCheckpoint
    readonly callbacks: Callbacks
  },
): Promise<void> {
  const { operation: tag, rootInode, entries, reason } = journal
  const known = new Map<BytePath, (FileEntry | LinkEntry)[]>(
    entries.map(({ path, from, to }) => [path, [from, to].filter(isContent)]),
  )
  const sweep = stagingFolders(entries)
  const asides = await context.snapshots.findAsides(project, { tag, rootInode, sweep, known })
  if (asides.length === 0) return
  await removeAsides(context, project, { asides, rootInode, safety, reason, callbacks })
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

function reportSaved(
  paths: readonly BytePath[],
  { checkpoint, callbacks }: { readonly checkpoint: string; readonly callbacks: Callbacks },
): void {
  for (const path of paths)
    callbacks.onWarning?.(
      `A program wrote to ${printablePath(path)} while it was being replaced. Checkpoint ${checkpoint} has the written content.`,
    )
}

function reportBusy(asides: readonly Aside[], callbacks: Callbacks): void {
  for (const { path, at } of asides)
    callbacks.onWarning?.(
      `A program keeps writing to the earlier ${printablePath(path)}, which it has open. That file is kept as ${printablePath(at)}.`,
    )
}
