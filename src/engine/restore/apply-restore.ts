// The part of a rewind, undo or redo that writes: journal → apply → verify, repeated while other programs change the same
// paths. Recovery finishes interrupted work with the same steps (I3, I6).
import {
  type BytePath,
  changesNothing,
  type FilesCheckpoint,
  type OperationId,
  type Project,
  type RestorePlan,
} from '../../model/index.js'
import type { Aside, Captured, NamedPaths, PartialMode } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { captureNow } from '../checkpoints/capture.js'
import type { StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { type JournalEntry, Journals, readRootInode, stagingFolders } from './restore-journal.js'
import { type PartialModes, reportPartialModes, withoutPartial } from './partial-modes.js'
import type { RestoreRequest } from './restore.js'
import { saveDuringRestore } from './restore-record.js'
import { disturbedError, replacedError } from './restore-errors.js'
import { removeAsides } from './remove-asides.js'

const ROUNDS = 3

type RestoreWork = {
  readonly request: Pick<
    RestoreRequest,
    'kind' | 'of' | 'goal' | 'ownersThen' | 'paths' | 'only' | 'reason' | 'session' | 'rewind'
  >
  readonly plan: RestorePlan
  /** All intended changes, for the process that may have to finish the operation. */
  readonly entries: readonly JournalEntry[]
  /** The operation changes no other path, also when it plans again after the first round. */
  readonly only: readonly BytePath[]
  readonly safety: FilesCheckpoint
  readonly operation: OperationId
  /** The inode of the folder that the plan was made for. */
  readonly rootInode: string
  readonly callbacks: Callbacks
}

/** Writes the journal, applies the plan and captures again; repeats that while other programs write to the same paths. */
export async function applyRestore(
  context: StoreContext,
  project: Project,
  work: RestoreWork,
): Promise<{ readonly after: Captured; readonly partial: PartialModes }> {
  const { snapshots } = context
  const { request, entries, only, safety, operation, rootInode, callbacks } = work
  const { kind, of, goal, ownersThen, reason, session, rewind } = request
  const restored = { operation, kind, of, goal, ownersThen, reason, session, rewind }
  const partial = new Map<BytePath, PartialMode>()
  const asides: Aside[] = []
  let plan = work.plan
  for (let round = 1; ; round++) {
    new Journals(context.home).write({
      ...restored,
      project: project.id,
      projectPath: project.path,
      rootInode,
      safety: safety.id,
      entries,
    })
    failpoint('restore:journaled')
    const done = await snapshots.apply(
      project,
      { plan, tag: operation, sweep: stagingFolders(entries), ownersThen },
      callbacks.onProgress,
    )
    for (const each of done.partialModes) partial.set(each.path, each)
    asides.push(...done.asides)
    failpoint('restore:applied')
    const named = { ...namedBy(request), paths: only }
    const after = await captureNow(context, project, { named, callbacks })
    if (readRootInode(project) !== rootInode) throw replacedError(project, safety)
    const now = after.snapshot.tree
    const rest = await snapshots.plan(project, { goal, paths: undefined, only, now })
    plan = withoutPartial(rest, partial)
    if (changesNothing(plan) && plan.conflict.length === 0) {
      await removeAsides(context, project, { asides, rootInode, safety, reason, callbacks })
      reportPartialModes(partial, callbacks)
      return { after, partial }
    }
    if (round === ROUNDS || plan.conflict.length > 0)
      throw disturbedError(plan, { safety, request })
    // Save changes that other programs made meanwhile before they are overwritten (I3).
    await saveDuringRestore(context, project, { captured: after, safety, reason })
  }
}

/** The paths to capture even if a present rule excludes them (docs/internals/rewind-and-rules.md). */
export function namedBy({
  goal,
  paths,
  only,
}: Pick<RestoreRequest, 'goal' | 'paths' | 'only'>): NamedPaths {
  return only === undefined ? { tree: goal, inside: paths } : { paths: only }
}
