// Adds the rows of a rewind, undo or redo: the safety checkpoint before it, the operation and its result after it (I2, I3).
import {
  type BytePath,
  type FilesCheckpoint,
  isInside,
  type OperationId,
  parentOf,
  type Project,
  REWIND,
  type RewindNote,
  ROOT,
} from '../../model/index.js'
import type { Captured } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'
import { Journals } from './restore-journal.js'
import { attributeChanges } from '../authorship/note-authors.js'
import { prepareCheckpoint, recordCheckpoint } from '../checkpoints/record-checkpoint.js'
import type { RestoreRequest } from './restore.js'
import { planNextStep } from './restore-session.js'

/** Adds the row, then removes the journal. */
export async function commitRestore(
  context: StoreContext,
  project: Project,
  done: {
    readonly after: Captured
    /** The paths that the plan changes. */
    readonly planned: readonly BytePath[]
    readonly safety: FilesCheckpoint
    readonly operation: OperationId
    readonly request: Pick<RestoreRequest, 'kind' | 'of' | 'reason' | 'session' | 'rewind'>
    /** The fencing number of the session's writer; undefined if it is dead. */
    readonly fence?: number | undefined
  },
): Promise<FilesCheckpoint> {
  const { after, planned, safety, operation, request } = done
  const facts = {
    kind: request.kind,
    name: null,
    reason: request.reason,
    previous: safety.snapshot.tree,
    authors: [REWIND],
  }
  const checkpoint = await prepareCheckpoint(context, project, { captured: after, facts })
  const rewind = request.rewind && {
    ...request.rewind,
    bystanders: await findBystanders(context, { safety, after, planned }),
  }
  failpoint('restore:before-row')
  context.ledger.addOperation(
    {
      id: operation,
      project: project.id,
      kind: request.kind,
      atMs: checkpoint.createdAtMs,
      safety: safety.id,
      result: checkpoint.id,
      of: request.of,
    },
    { checkpoint, details: { ...after.snapshot, rewind } },
    (made) => {
      const step = planNextStep(context, request.session, done.fence)
      step?.advance(made)
      return { ...made, session: step?.facts ?? null }
    },
  )
  failpoint('restore:after-row')
  new Journals(context.home).remove(project.id)
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
    safety,
    after,
    planned,
  }: {
    readonly safety: FilesCheckpoint
    readonly after: Captured
    readonly planned: readonly BytePath[]
  },
): Promise<readonly BytePath[]> {
  const { tree } = after.snapshot
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
  const hasSameFiles = newest?.snapshot.tree === captured.snapshot.tree
  if (hasSameFiles && hasSameOwners(context, newest, captured)) return newest
  const { authors, made: also } = attributeChanges(context, project, { type: 'look' })
  const previous = newest?.snapshot.tree
  const facts = { kind: 'safety' as const, name: null, reason, previous, authors }
  return recordCheckpoint(context, project, { captured, facts, rewind, also })
}

/** Saves content that another program wrote while the rewind ran (I3). */
export function saveDuringRestore(
  context: StoreContext,
  project: Project,
  {
    captured,
    safety,
    reason,
  }: { readonly captured: Captured; readonly safety: FilesCheckpoint; readonly reason: string },
): Promise<FilesCheckpoint> {
  const previous = safety.snapshot.tree
  const facts = { kind: 'safety' as const, name: null, reason: `during ${reason}`, previous }
  return recordCheckpoint(context, project, { captured, facts: { ...facts, authors: null } })
}

/** Owners matter: an undo by root restores them. */
function hasSameOwners(
  { ledger }: StoreContext,
  { id }: FilesCheckpoint,
  { snapshot }: Captured,
): boolean {
  const recorded = ledger.checkpoints.details(id)?.owners
  return JSON.stringify(recorded) === JSON.stringify(snapshot.owners)
}
