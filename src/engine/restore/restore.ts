// The steps that rewind, undo and redo share:
// capture → plan → [a dry run, a conflict or an unconfirmed plan stops here] → safety checkpoint → journal → apply →
// verify → row.
import { createHash } from 'node:crypto'
import {
  type BytePath,
  changesNothing,
  type CheckpointId,
  makeId,
  type ObjectId,
  parseOperationId,
  pathText,
  type Project,
  type RestorePlan,
} from '../../model/index.js'
import type { LeftOut } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { captureNow } from '../checkpoints/capture.js'
import { type PlanView, viewPlan } from '../checkpoints/views.js'
import {
  type Callbacks,
  type PlanDetails,
  type RestoreSubject,
  uncancellable,
} from '../operation/callbacks.js'
import type { StoreContext } from '../operation/context.js'
import { applyRestore, withPartial } from './apply-restore.js'
import { keepHooks } from './keep-hooks.js'
import { rollBackUnfinished } from './recover.js'
import {
  explainRestoreFailure,
  refuseConflicts,
  refuseMergeConflicts,
  type RestoreOutcome,
} from './restore-errors.js'
import {
  changedPaths,
  type Journal,
  journalEntries,
  readRootInode,
  writeJournal,
} from './restore-journal.js'
import { commitRestore, saveSafetyCheckpoint } from './restore-record.js'
import { isRefusedBySession, refuseChangedSession } from './restore-session.js'

export type RestoreRequest = Pick<
  Journal,
  'kind' | 'of' | 'goal' | 'ownersThen' | 'reason' | 'session' | 'rewind'
> & {
  readonly target: CheckpointId
  /** The paths that the target left out. Undefined if `only` contains exactly the paths that a rewind changed. */
  readonly leftOut?: LeftOut | undefined
  /** Files and folders to restore; undefined for everything. */
  readonly paths: readonly BytePath[] | undefined
  /** Exactly these paths. With `makeGoal`: captured even if a rule excludes them. */
  readonly only: readonly BytePath[] | undefined
  /** Makes the goal from the folder as captured. `goal` is then only the snapshot whose paths are captured. */
  readonly makeGoal?: ((now: ObjectId) => Promise<MadeGoal>) | undefined
  readonly dryRun: boolean
  readonly subject: RestoreSubject
  /** Keep the user's own changes since the target. */
  readonly keepMine?: boolean
  /** Restore the state of the session even if no file differs. */
  readonly movesState?: boolean
  /** Reported together with the plan. */
  readonly notice?: string | undefined
  readonly fence?: number | undefined
}

/** A snapshot of the folder with changed paths, or of the target with the user's changes (docs/internals/history.md). */
export type MadeGoal = Pick<RestorePlan, 'keep' | 'conflict'> & {
  readonly goal: ObjectId
  /** Reasons for the paths that it writes, where the plan has a better one than the difference. */
  readonly reasons: ReadonlyMap<BytePath, string>
  /** Never changes these paths, and lists them as the user's. */
  readonly leave?: readonly BytePath[]
}

export type RestoreResult = RestoreSubject & {
  readonly target: CheckpointId
  readonly plan: PlanView
  readonly applied: boolean
  /** True if `confirm` returned false. */
  readonly declined: boolean
  /** The checkpoint of the folder before. */
  readonly safety: CheckpointId | null
  /** The checkpoint of the folder now. */
  readonly checkpoint: CheckpointId | null
  /** The session whose state an undo or redo changed together with the files. */
  readonly session?: string
  /** The newest checkpoint that this session had saved since the rewind. */
  readonly left?: CheckpointId
}

/** A plan that the user has not confirmed yet. Nothing has been changed. */
export type PlanQuestion = {
  readonly isQuestion: true
  readonly plan: PlanView
  readonly details: PlanDetails
  /** The result if the answer is no. */
  readonly declined: RestoreResult
}

const NOT_APPLIED = { applied: false, declined: false, safety: null, checkpoint: null } as const

/**
 * The caller holds the project's lock and has recovered interrupted operations. `agreed` is the mark of the plan that the
 * user confirmed. Every other plan is returned as a question, because no prompt may be open under the lock.
 */
export async function restore(
  context: StoreContext,
  project: Project,
  {
    request,
    callbacks,
    agreed,
  }: {
    readonly request: RestoreRequest
    readonly callbacks: Callbacks
    readonly agreed: string | undefined
  },
): Promise<RestoreResult | PlanQuestion> {
  const { home, ledger, snapshots, clock } = context
  const { kind, of, target, paths, reason, ownersThen, fence } = request
  const newest = ledger.checkpoints.newestFiles(project.id)
  const rootInode = readRootInode(project)
  // Capture these paths even if a present rule excludes them (docs/internals/rewind-and-rules.md).
  const named =
    request.only === undefined ? { tree: request.goal, inside: paths } : { paths: request.only }
  const before = await captureNow(context, project, { named, callbacks })
  const { tree: now } = before.snapshot
  const made = await request.makeGoal?.(now)
  const { goal } = made ?? request
  const rewind = noteOf(request, goal)
  const only = made === undefined ? request.only : undefined
  const { leftOut } = request
  const leave = made?.leave
  const planned = await snapshots.plan(project, { goal, leftOut, paths, only, now, leave })
  const hooksKept = await keepHooks(context, project, { ...request, goal, plan: planned, now })
  const plan = withMade(hooksKept, made)
  const view = viewPlan(plan, made?.reasons)
  const subject = withoutWritten(request.subject, plan)
  const nothing = { ...subject, target, plan: view, ...NOT_APPLIED }
  const mark = hashPlan({ ...request, goal }, plan)
  if (request.notice !== undefined && mark !== agreed) callbacks.onWarning?.(request.notice)
  const session = request.movesState === true ? request.session?.id : undefined
  const details = { ...subject, target, goal, now, session, mark }
  callbacks.onPlan?.(view, details)
  if (request.dryRun) return nothing
  refuseMergeConflicts(made?.conflict ?? [])
  refuseConflicts(plan, request)
  const changesFiles = !changesNothing(plan)
  const isNoop = !changesFiles && session === undefined
  // Record an undo even if the files already match; otherwise it would block every earlier undo.
  if (isNoop && (kind === 'rewind' || plan.keep.length > 0))
    return { ...nothing, checkpoint: newest?.id ?? null }
  // A rewind that changes only the state needs no confirmation, like `--state`: it overwrites no file.
  const needsConsent = kind === 'rewind' ? changesFiles : !isNoop
  if (needsConsent && callbacks.confirm !== undefined && mark !== agreed) {
    return { isQuestion: true, plan: view, details, declined: { ...nothing, declined: true } }
  }
  if (request.session !== undefined) refuseChangedSession(context, request.session, fence)
  // Last chance to cancel: once the journal is written, the work is finished.
  callbacks.signal?.throwIfAborted()

  const explain = (error: unknown, outcome: RestoreOutcome) =>
    explainRestoreFailure(error, { context, project, request, outcome, plan })
  // I3: everything that the plan overwrites is in a checkpoint first.
  const safety = await saveSafetyCheckpoint(context, project, {
    captured: before,
    newest,
    reason: `before ${reason}`,
    rewind,
  }).catch((error: unknown) => {
    throw explain(error, { type: 'untouched' })
  })
  failpoint('restore:safety-made')
  const entries = journalEntries(plan)
  const operation = parseOperationId(makeId(clock.random))
  const journal: Journal = {
    operation,
    kind,
    of,
    goal,
    ownersThen,
    reason,
    rewind,
    rootInode,
    entries,
    project: project.id,
    safety: safety.id,
    session: request.session,
  }
  const work = { journal, safety, callbacks: uncancellable(callbacks) }
  const rollBackAndExplain = async (error: unknown) =>
    explain(error, await rollBackUnfinished(context, project, work))
  const apply = async () => {
    writeJournal(home, journal)
    // Only planned paths: once an older .gitignore is restored, files that were always ignored look like new files.
    const only = changedPaths(entries)
    return applyRestore(context, project, { ...work, plan, only, named: { ...named, paths: only } })
  }
  const { after, partial } = await apply().catch(async (error: unknown) => {
    throw await rollBackAndExplain(error)
  })
  const checkpoint = await commitRestore(context, project, { ...work, after, fence }).catch(
    async (error: unknown) => {
      throw isRefusedBySession(error)
        ? await rollBackAndExplain(error)
        : explain(error, { type: 'unrecorded' })
    },
  )
  return {
    ...subject,
    target,
    plan: withPartial(view, partial),
    applied: true,
    declined: false,
    safety: safety.id,
    checkpoint: checkpoint.id,
  }
}

function withMade(plan: RestorePlan, made: MadeGoal | undefined): RestorePlan {
  if (made === undefined) return plan
  return {
    ...plan,
    keep: [...plan.keep, ...made.keep],
    conflict: [...plan.conflict, ...made.conflict],
  }
}

/** A goal that differs from the target is in no checkpoint. */
function noteOf({ rewind, makeGoal, goal }: RestoreRequest, made: ObjectId): Journal['rewind'] {
  const isMerge = makeGoal !== undefined && made !== goal
  return rewind !== undefined && isMerge ? { ...rewind, isMerge } : rewind
}

/** Equal for two plans that would do the same to the same contents. */
function hashPlan(request: RestoreRequest, { write, remove, keep }: RestorePlan): string {
  const { kind, of, target, goal, paths = null, keepMine = false, session } = request
  const moved = session === undefined || session.revertFrom === null ? null : session
  const parts = [kind, of, target, goal, paths, keepMine, moved, write, remove, keep]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** A path that the plan writes is restored, even if a present rule excludes it: the target contains it. */
function withoutWritten(subject: RestoreSubject, { write }: RestorePlan): RestoreSubject {
  if (subject.notRestored === undefined) return subject
  const written = new Set(write.map(({ path }) => pathText(path)))
  return {
    ...subject,
    notRestored: subject.notRestored.filter(({ path }) => !written.has(path)),
  }
}
