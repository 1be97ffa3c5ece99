// Removes single checkpoints. Order of writes (docs/guide/store.md#drop): the rows in one transaction, the refs, then a collection. The
// transaction is the point of no return (I1, I2).
import * as z from 'zod/mini'
import {
  type Checkpoint,
  type CheckpointId,
  hasFiles,
  parseSessionId,
  type Project,
  SavestateError,
  undoStack,
} from '../../model/index.js'
import { removeRefs } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { removeAndCollect } from './gc.js'
import { findKnownProject, type ProjectContext, type StoreContext } from '../operation/context.js'
import { ID_LETTERS } from '../checkpoints/describe-target.js'
import { isHeld, unknownSession } from '../sessions/open-session.js'
import { projectOperation } from '../operation/operation.js'
import { resolve, resolveInSession } from '../checkpoints/resolve-ref.js'
import { type CheckpointView, viewCheckpoint } from '../checkpoints/views.js'

export type DropResult = {
  readonly checkpoints: readonly CheckpointView[]
  /** Sessions that had no other checkpoint are removed too. */
  readonly sessions: readonly string[]
  /** The last rewind can no longer be undone. */
  readonly forgetsUndo: boolean
  readonly applied: boolean
  readonly bytesReclaimed: number
}

export const drop = projectOperation({
  name: 'drop',
  summary: 'Remove single checkpoints',
  effect: 'changes-store',
  input: () =>
    z.strictObject({
      refs: z.array(z.string()).check(z.minLength(1)),
      /** The session that the references belong to. */
      of: z.optional(z.string()),
      dryRun: z._default(z.boolean(), false),
    }),
  async run(context, input, callbacks): Promise<DropResult> {
    const project = findKnownProject(context)
    const work = () => dropUnderLock(context, project, input)
    return removeAndCollect(context, project, { purpose: 'drop', callbacks, work })
  },
})

async function dropUnderLock(
  context: ProjectContext,
  project: Project | undefined,
  {
    refs: given,
    of,
    dryRun,
  }: {
    readonly refs: readonly string[]
    readonly of?: string | undefined
    readonly dryRun: boolean
  },
): Promise<Omit<DropResult, 'bytesReclaimed'>> {
  const { ledger, snapshots } = context
  const found = given.map((ref) => findCheckpoint(context, project, { ref, of }))
  const chosen = [...new Map(found.map((checkpoint) => [checkpoint.id, checkpoint])).values()]
  if (!dryRun) ledger.removeBackup()
  const done = ledger.transaction(() => {
    for (const checkpoint of chosen) refuseKept(context, checkpoint)
    const forgetsUndo = isNeededByUndo(context, project, chosen)
    const sessions = findEmptiedSessions(context, chosen)
    if (!dryRun) removeRows(context, chosen, sessions)
    return { forgetsUndo, sessions }
  })
  if (!dryRun) {
    failpoint('drop:rows-removed')
    const refs =
      project === undefined
        ? []
        : chosen.filter(hasFiles).map(({ id }) => snapshots.refOf(project, id))
    await removeRefs(snapshots.gitDir, refs)
  }
  return { checkpoints: chosen.map(viewCheckpoint), ...done, applied: !dryRun }
}

/** Without `of`, a checkpoint of the project; with `of`, one of a session of this project or of no project. */
function findCheckpoint(
  context: ProjectContext,
  project: Project | undefined,
  { ref, of }: { readonly ref: string; readonly of: string | undefined },
): Checkpoint {
  if (of === undefined) return resolve(context.ledger, project, ref)
  const session = context.ledger.sessions.byId(parseSessionId(of))
  if (session === undefined) throw unknownSession(of)
  if (session.project !== null && session.project !== project?.id)
    throw new SavestateError(
      'BAD_INPUT',
      `The session ${JSON.stringify(of)} belongs to another project`,
      {
        hint: 'Name the folder of that project with -C; in the SDK, open that project.',
      },
    )
  return resolveInSession(context, session.key, ref)
}

function refuseKept({ ledger, clock }: ProjectContext, { id }: Checkpoint): void {
  const checkpoint = ledger.checkpoints.get(id)
  if (checkpoint === undefined)
    throw new SavestateError('CHECKPOINT_UNKNOWN', `Checkpoint ${id} no longer exists`)
  const shortId = id.slice(0, ID_LETTERS)
  const kept = (why: string, hint: string) =>
    new SavestateError('CHECKPOINT_KEPT', `Checkpoint ${shortId} ${why}`, { hint })
  if (checkpoint.pinned) throw kept('is pinned', `Unpin it first: savestate unpin ${shortId}`)
  if (ledger.pruning.isOfThread(id))
    throw kept('contains the files of a graph thread', 'Delete the thread first, in its framework.')
  const session =
    checkpoint.session === null ? undefined : ledger.sessions.byKey(checkpoint.session.key)
  if (session?.head !== id) return
  const isRunning = session.status.state === 'in_progress' || isHeld(session.lease, clock.nowMs())
  if (isRunning)
    throw kept(
      `is where the session ${JSON.stringify(session.id)} continues`,
      'Wait until the session has ended, or drop an earlier checkpoint of it.',
    )
}

/** Whether the last rewind can be undone only with one of these checkpoints. */
export function isNeededByUndo(
  { ledger }: StoreContext,
  project: Project | undefined,
  chosen: readonly Pick<Checkpoint, 'id'>[],
): boolean {
  if (project === undefined || chosen.length === 0) return false
  const { undo } = undoStack(ledger.operations(project.id))
  return undo !== undefined && chosen.some(({ id }) => id === undo.safety || id === undo.result)
}

/** Sessions that have no other checkpoints. */
function findEmptiedSessions({ ledger }: ProjectContext, chosen: readonly Checkpoint[]): string[] {
  const ids = new Set<CheckpointId>(chosen.map(({ id }) => id))
  const keys = new Set(chosen.flatMap(({ session }) => session?.key ?? []))
  return [...keys].flatMap((key) => {
    const isOver = ledger.checkpoints.briefs({ session: key }).every(({ id }) => ids.has(id))
    const session = ledger.sessions.byKey(key)
    return isOver && session !== undefined ? session.id : []
  })
}

/** Inside the transaction. A session that loses its head continues from the checkpoint before it. */
function removeRows(
  { ledger, clock }: ProjectContext,
  chosen: readonly Checkpoint[],
  emptied: readonly string[],
): void {
  ledger.pruning.moveHeads(chosen.map(({ id }) => id))
  ledger.pruning.drop(chosen.map(({ id }) => id))
  for (const id of emptied) {
    const session = ledger.sessions.byId(id)
    if (session !== undefined) ledger.sessions.delete(session.key, clock.nowMs())
  }
}
