// Rolls back an unfinished rewind: restores its paths from the safety checkpoint, except for those that another program
// has changed since.
import {
  type BytePath,
  type Entry,
  type FilesCheckpoint,
  type Left,
  type ObjectId,
  printablePath,
  type Project,
} from '../../model/index.js'
import { captureNow } from '../checkpoints/capture.js'
import type { StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { type Journal, Journals, stagingFolders } from './restore-journal.js'
import { removeAsides, removeLeftAsides } from './remove-asides.js'

export type InterruptedRestore = {
  readonly journal: Journal
  readonly safety: FilesCheckpoint
  readonly callbacks: Callbacks
}

/** Returns the paths that could not be restored. */
export async function rollBack(
  context: StoreContext,
  project: Project,
  work: InterruptedRestore,
): Promise<readonly Left[]> {
  const { journal, safety, callbacks } = work
  const { snapshots, home } = context
  await removeLeftAsides(context, project, work)
  const { now, only, left } = await findUntouched(context, project, work)
  const goal = safety.snapshot.tree
  const plan = await snapshots.plan(project, { now, goal, paths: undefined, only })
  const applied = await snapshots.apply(project, {
    plan,
    tag: journal.operation,
    sweep: stagingFolders(journal.entries),
    ownersThen: context.ledger.checkpoints.details(safety.id)?.owners,
  })
  const { rootInode, reason } = journal
  await removeAsides(context, project, { ...applied, rootInode, safety, reason, callbacks })
  new Journals(home).remove(project.id)
  return [...plan.conflict, ...left, ...applied.disturbed.map(changedSince)]
}

/** Reports the paths that recovery or rollback left as they are. */
export function reportLeft(
  left: readonly Left[],
  { safety, callbacks }: { readonly safety: FilesCheckpoint; readonly callbacks: Callbacks },
): void {
  const [first] = left
  if (first === undefined) return
  const others = left.length === 1 ? 'stays' : `and ${left.length - 1} more stay`
  callbacks.onWarning?.(
    `${printablePath(first.path)} ${others} as found: ${first.reason}. Checkpoint ${safety.id} has the files from before.`,
  )
}

/** Captures the folder and finds the journal's paths that no other program has changed. */
export async function findUntouched(
  context: StoreContext,
  project: Project,
  { journal, safety }: Omit<InterruptedRestore, 'callbacks'>,
): Promise<{
  readonly now: ObjectId
  readonly only: readonly BytePath[]
  /** The paths that another program has changed. */
  readonly left: readonly Left[]
}> {
  const named = { paths: journal.entries.map(({ path }) => path) }
  const { snapshot } = await captureNow(context, project, { named })
  const changes = await context.snapshots.compare(safety.snapshot.tree, snapshot.tree, {
    countLines: false,
  })
  const changed = new Map(changes.map(({ path, after }) => [path, after]))
  const isUntouched = ({ path, from, to }: Journal['entries'][number]) => {
    const present = changed.get(path)
    return !changed.has(path) || isKnown(present, from) || isKnown(present, to)
  }
  const only = journal.entries.filter(isUntouched).map(({ path }) => path)
  const left = journal.entries.filter((entry) => !isUntouched(entry)).map(({ path }) => path)
  return { now: snapshot.tree, only, left: left.map(changedSince) }
}

function changedSince(path: BytePath): Left {
  return { path, reason: 'changed since' }
}

/** A missing entry or a folder has no content that could be lost. */
function isKnown(present: Entry | undefined, known: Entry | null): boolean {
  if (present === undefined || present.type === 'folder') return true
  return known !== null && known.type === present.type && known.blob === present.blob
}
