// The steps that rewind, undo and redo share:
// capture → plan → [a dry run, a conflict or an unconfirmed plan stops here] → safety checkpoint → journal → apply →
// verify → row.
import { createHash } from 'node:crypto'
import {
  type BytePath,
  changesNothing,
  type CheckpointId,
  type FilesCheckpoint,
  makeId,
  type ObjectId,
  type OperationId,
  type OperationKind,
  type OwnedPath,
  parseOperationId,
  pathText,
  type Project,
  type RestorePlan,
  type RewindNote,
} from '../../model/index.js'
import type { LeftOut } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { pathsToKeep } from '../authorship/attribution.js'
import { applyRestore, namedBy } from './apply-restore.js'
import { captureNow } from '../checkpoints/capture.js'
import type { StoreContext } from '../operation/context.js'
import {
  type Callbacks,
  type PlanFacts,
  type RestoreSubject,
  uncancellable,
} from '../operation/callbacks.js'
import { changedPaths, GONE, journalEntries, Journals, readRootInode } from './restore-journal.js'
import { keepHooks } from './keep-hooks.js'
import { withPartial } from './partial-modes.js'
import { refuseConflicts } from './restore-errors.js'
import { explainRestoreFailure, type RestoreOutcome } from './explain-restore-failure.js'
import { commitRestore, saveSafetyCheckpoint } from './restore-record.js'
import { isRefusedBySession, refuseChangedSession, type RestoreSession } from './restore-session.js'
import { reportLeft, rollBack } from './rollback.js'
import { type PlanView, viewPlan } from '../checkpoints/views.js'

export type RestoreRequest = {
  readonly kind: OperationKind
  readonly of: OperationId | null
  readonly target: CheckpointId
  readonly goal: ObjectId
  /** The paths that the target left out. Undefined if `only` contains exactly the paths that a rewind changed. */
  readonly leftOut?: LeftOut | undefined
  /** Undefined if the checkpoint does not record owners. */
  readonly ownersThen: readonly OwnedPath[] | undefined
  /** Files and folders to restore; undefined for everything. */
  readonly paths: readonly BytePath[] | undefined
  /** Exactly these paths. */
  readonly only: readonly BytePath[] | undefined
  readonly reason: string
  readonly dryRun: boolean
  readonly subject: RestoreSubject
  /** Stored with the safety checkpoint and the result; undefined for an undo or redo. */
  readonly rewind?: RewindNote | undefined
  /** Keep the user's own changes since the target. */
  readonly keepMine?: boolean
  /** The session whose checkpoint the result becomes. */
  readonly session?: RestoreSession | undefined
  /** Restore the state of the session even if no file differs. */
  readonly movesState?: boolean
  /** Reported together with the plan. */
  readonly notice?: string | undefined
  readonly fence?: number | undefined
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
  readonly facts: PlanFacts
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
  const { ledger, snapshots } = context
  const newest = ledger.checkpoints.newestFiles(project.id)
  const rootInode = readRootInode(project)
  const before = await captureNow(context, project, { named: namedBy(request), callbacks })
  const { tree: now } = before.snapshot
  const since = { from: request.target, now, callbacks }
  const leave = request.keepMine === true ? await pathsToKeep(context, project, since) : undefined
  const planned = await snapshots.plan(project, { ...request, now, leave })
  const plan = await keepHooks(context, project, { ...request, plan: planned, now })
  const view = viewPlan(plan)
  const { target } = request
  const subject = withoutWritten(request.subject, plan)
  const nothing = { ...subject, target, plan: view, ...NOT_APPLIED }
  const mark = hashPlan(request, plan)
  if (request.notice !== undefined && mark !== agreed) callbacks.onWarning?.(request.notice)
  if (request.dryRun) return nothing
  refuseConflicts(plan, request)
  const session = request.movesState === true ? request.session?.id : undefined
  const changesFiles = !changesNothing(plan)
  const isNoop = !changesFiles && session === undefined
  // Record an undo even if the files already match; otherwise it would block every earlier undo.
  if (isNoop && (request.kind === 'rewind' || plan.keep.length > 0))
    return { ...nothing, checkpoint: newest?.id ?? null }
  // A rewind that changes only the state needs no confirmation, like `--state`: it overwrites no file.
  const needsConsent = request.kind === 'rewind' ? changesFiles : !isNoop
  if (needsConsent && callbacks.confirm !== undefined && mark !== agreed) {
    const facts = { ...subject, target, goal: request.goal, now, session, mark }
    return { isQuestion: true, plan: view, facts, declined: { ...nothing, declined: true } }
  }
  if (request.session !== undefined) refuseChangedSession(context, request.session, request.fence)
  // Last chance to cancel: once the journal is written, the work is finished.
  callbacks.signal?.throwIfAborted()

  const explain = (error: unknown, outcome: RestoreOutcome) =>
    explainRestoreFailure(error, { context, project, request, outcome, files: countFiles(plan) })
  // I3: everything that the plan overwrites is in a checkpoint first.
  const safety = await saveSafetyCheckpoint(context, project, {
    captured: before,
    newest,
    reason: `before ${request.reason}`,
    rewind: request.rewind,
  }).catch((error: unknown) => {
    throw explain(error, { type: 'untouched' })
  })
  failpoint('restore:safety-made')
  const operation = parseOperationId(makeId(context.clock.random))
  const entries = journalEntries(plan)
  // Only planned paths: once an older .gitignore is restored, files that were always ignored look like new files.
  const only = changedPaths(entries)
  const firm = uncancellable(callbacks)
  const work = { request, plan, entries, only, safety, operation, rootInode, callbacks: firm }
  const rollBackAndExplain = async (error: unknown) =>
    explain(error, await rollBackUnfinished(context, project, { safety, callbacks: firm }))
  const { after, partial } = await applyRestore(context, project, work).catch(
    async (error: unknown) => {
      throw await rollBackAndExplain(error)
    },
  )
  const done = { after, planned: only, safety, operation, request, fence: request.fence }
  const checkpoint = await commitRestore(context, project, done).catch(async (error: unknown) => {
    throw isRefusedBySession(error)
      ? await rollBackAndExplain(error)
      : explain(error, { type: 'unrecorded' })
  })
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

/** Half a rewind is worse than none. If the rollback fails too, the journal stays and the next command tries again. */
async function rollBackUnfinished(
  context: StoreContext,
  project: Project,
  { safety, callbacks }: { readonly safety: FilesCheckpoint; readonly callbacks: Callbacks },
): Promise<RestoreOutcome> {
  const journals = new Journals(context.home)
  const journal = journals.read(project)
  if (journal === undefined) return { type: 'untouched' }
  const inode = readRootInode(project)
  // The user may move the folder back.
  if (inode === GONE) return { type: 'unfinished' }
  if (journal.rootInode !== inode) {
    journals.remove(project.id)
    return { type: 'replaced' }
  }
  try {
    const left = await rollBack(context, project, { journal, safety, callbacks })
    reportLeft(left, { safety, callbacks })
    return { type: 'rolled-back', left: left.length }
  } catch {
    // The caller throws the original error, which says more than this one.
    return { type: 'unfinished' }
  }
}

function countFiles({ write, remove }: RestorePlan): number {
  const entries = [...write.map(({ to }) => to), ...remove.map(({ from }) => from)]
  return entries.filter(({ type }) => type !== 'folder').length
}
