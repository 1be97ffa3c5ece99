// Adds the rows of a rewind, undo or redo: the safety checkpoint before it, the operation and its result after it (I2, I3).
import {
  type BytePath,
  type FilesCheckpoint,
  isInside,
  parentOf,
  type Project,
  REWIND,
  type RewindNote,
  ROOT,
} from '../../model/index.js'
import type { Captured } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'
import { changedPaths, removeJournal, type StartedRestore } from './restore-journal.js'
import { attributeChanges } from '../authorship/note-authors.js'
import { prepareCheckpoint, recordCheckpoint } from '../checkpoints/record-checkpoint.js'
import { advanceSession } from './restore-session.js'

/** Adds the row, then removes the journal. */
export async function commitRestore(
  context: StoreContext,
  project: Project,
  done: Pick<StartedRestore, 'journal' | 'safety'> & {
    readonly after: Captured
    /** The fencing number of the session's writer; undefined if it is dead. */
    readonly fence?: number | undefined
  },
): Promise<FilesCheckpoint> {
  const { journal, safety, after, fence } = done
  const { operation, kind, of, reason, session } = journal
  const previous = safety.snapshot.tree
  const facts = { kind, name: null, reason, previous, authors: [REWIND] }
  const checkpoint = await prepareCheckpoint(context, project, { captured: after, facts })
  const rewind = journal.rewind && {
    ...journal.rewind,
    bystanders: await findBystanders(context, done),
  }
  failpoint('restore:before-row')
  context.ledger.addOperation(
    {
      id: operation,
      project: project.id,
      kind,
      atMs: checkpoint.createdAtMs,
      safety: safety.id,
      result: checkpoint.id,
      of,
    },
    { checkpoint, details: { ...after.snapshot, rewind } },
    (made) => ({ ...made, session: advanceSession(context, made, { session, fence }) }),
  )
  failpoint('restore:after-row')
  removeJournal(context.home, project.id)
  failpoint('restore:done')
  return checkpoint
}

/**
 * Finds the paths that differ from the safety checkpoint although the rewind did not change them: the restored ignore rules
 * capture other paths, or another program wrote meanwhile. An undo leaves these paths alone.
 */
async function findBystanders(
  { snapshots }: StoreContext,
  {
    journal,
    safety,
    after,
  }: Pick<StartedRestore, 'journal' | 'safety'> & { readonly after: Captured },
): Promise<readonly BytePath[]> {
  const { tree } = after.snapshot
  const planned = changedPaths(journal.entries)
  const changes = await snapshots.compare(safety.snapshot.tree, tree, { countLines: false })
  // Exclude the parents of planned paths: a bystander folder includes everything in it.
  const ours = new Set<BytePath>(planned)
  for (const path of planned)
    for (let at = parentOf(path); at !== ROOT && !ours.has(at); at = parentOf(at)) ours.add(at)
  const bystanders: BytePath[] = []
  for (const { path } of changes) {
    const last = bystanders.at(-1)
    if (!ours.has(path) && (last === undefined || !isInside(path, last))) bystanders.push(path)
  }
  return bystanders
}

/** Saves the folder before the rewind. Returns the newest checkpoint if it has the same files and owners. */
export async function saveSafetyCheckpoint(
  context: StoreContext,
  project: Project,
  {
    captured,
    newest,
    reason,
    rewind,
  }: {
    readonly captured: Captured
    readonly newest: FilesCheckpoint | undefined
    readonly reason: string
    readonly rewind: RewindNote | undefined
  },
): Promise<FilesCheckpoint> {
  if (newest?.snapshot.tree === captured.snapshot.tree) {
    // Owners matter: an undo by root restores them.
    const { owners } = context.ledger.checkpoints.details(newest.id) ?? {}
    if (JSON.stringify(owners) === JSON.stringify(captured.snapshot.owners)) return newest
  }
  const { authors, made: also } = attributeChanges(context, project, { type: 'look' })
  const previous = newest?.snapshot.tree
  const facts = { kind: 'safety' as const, name: null, reason, previous, authors }
  return recordCheckpoint(context, project, { captured, facts, rewind, also })
}

/** Saves content that another program wrote while the rewind ran (I3). */
export function saveDuringRestore(
  context: StoreContext,
  project: Project,
  { captured, journal, safety }: StartedRestore & { readonly captured: Captured },
): Promise<FilesCheckpoint> {
  const reason = `during ${journal.reason}`
  const previous = safety.snapshot.tree
  const facts = { kind: 'safety' as const, name: null, reason, previous, authors: null }
  return recordCheckpoint(context, project, { captured, facts })
}
