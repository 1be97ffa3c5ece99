// The way back, shared by rewind, undo and redo:
// capture → plan → [dry run, conflict and a plan nobody agreed to stop here] → safety checkpoint → journal → apply →
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
import { carryOut, namedBy } from './apply-restore.js'
import { captureNow } from '../checkpoints/capture.js'
import type { StoreContext } from '../operation/context.js'
import {
  type Hooks,
  type PlanFacts,
  type RestoreSubject,
  uncancellable,
} from '../operation/callbacks.js'
import { changedPaths, GONE, journalEntries, Journals, rootInodeOf } from './restore-journal.js'
import { keepHooks } from './keep-hooks.js'
import { withPartial } from './partial-modes.js'
import { refuseConflicts } from './restore-errors.js'
import { restoreFailure, type RestoreOutcome } from './explain-restore-failure.js'
import { commitRestore, safetyCheckpoint } from './restore-record.js'
import { isRefusedBySession, refuseOthers, type RestoreSession } from './restore-session.js'
import { takeBack, tellLeft } from './rollback.js'
import { type PlanView, viewPlan } from '../checkpoints/views.js'

export type RestoreRequest = {
  readonly kind: OperationKind
  readonly of: OperationId | null
  readonly target: CheckpointId
  readonly goal: ObjectId
  /** The paths that the target left out. Undefined where `only` are the paths that a rewind itself changed. */
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
  /** Kept with the safety checkpoint and the result; undefined for an undo or redo. */
  readonly rewind?: RewindNote | undefined
  /** What the person has changed since the target stays as it is. */
  readonly keepMine?: boolean
  /** The session that goes back with the files, or in which they do. */
  readonly session?: RestoreSession | undefined
  /** It has to get its state where no file differs, too. */
  readonly movesState?: boolean
  /** Reported together with the plan. */
  readonly notice?: string | undefined
  readonly fence?: number | undefined
}

export type RestoreResult = RestoreSubject & {
  /** The checkpoint that was gone back to. */
  readonly target: CheckpointId
  readonly plan: PlanView
  readonly applied: boolean
  /** True if the person said no. */
  readonly declined: boolean
  /** The checkpoint of what was there before. */
  readonly safety: CheckpointId | null
  /** The checkpoint of what is there now. */
  readonly checkpoint: CheckpointId | null
  /** What an undo or redo gives another state, besides the files. */
  readonly session?: string
  /** The last that a session had saved since the rewind, where an undo or redo gives it another state. */
  readonly left?: CheckpointId
}

/** A plan that the caller has not agreed to yet. Nothing has been changed. */
export type PlanQuestion = {
  readonly isQuestion: true
  readonly plan: PlanView
  readonly facts: PlanFacts
  /** The result if the answer is no. */
  readonly declined: RestoreResult
}

const UNDONE = { applied: false, declined: false, safety: null, checkpoint: null } as const

/**
 * The caller holds the project's lock and has recovered what was interrupted. `agreed` is the mark of the plan that the
 * user has agreed to. Every other plan is returned as a question, because nobody is asked under the lock.
 */
export async function restore(
  context: StoreContext,
  project: Project,
  {
    request,
    hooks,
    agreed,
  }: {
    readonly request: RestoreRequest
    readonly hooks: Hooks
    readonly agreed: string | undefined
  },
): Promise<RestoreResult | PlanQuestion> {
  const { ledger, snapshots } = context
  const newest = ledger.checkpoints.newestFiles(project.id)
  const rootInode = rootInodeOf(project)
  const before = await captureNow(context, project, { named: namedBy(request), hooks })
  const { tree: now } = before.snapshot
  const since = { from: request.target, now, hooks }
  const leave = request.keepMine === true ? await pathsToKeep(context, project, since) : undefined
  const planned = await snapshots.plan(project, { ...request, now, leave })
  const plan = await keepHooks(context, project, { ...request, plan: planned, now })
  const view = viewPlan(plan)
  const { target } = request
  const subject = withoutWritten(request.subject, plan)
  const nothing = { ...subject, target, plan: view, ...UNDONE }
  const mark = markOf(request, plan)
  if (request.notice !== undefined && mark !== agreed) hooks.onNotice?.(request.notice)
  if (request.dryRun) return nothing
  refuseConflicts(plan, request)
  const session = request.movesState === true ? request.session?.id : undefined
  const changesFiles = !changesNothing(plan)
  const isNoop = !changesFiles && session === undefined
  // Record an undo even if the files already match; otherwise it would block every earlier undo.
  if (isNoop && (request.kind === 'rewind' || plan.keep.length > 0))
    return { ...nothing, checkpoint: newest?.id ?? null }
  // A rewind that moves only the state asks nothing, like `--state`: it overwrites no file.
  const needsConsent = request.kind === 'rewind' ? changesFiles : !isNoop
  if (needsConsent && hooks.confirm !== undefined && mark !== agreed) {
    const facts = { ...subject, target, goal: request.goal, now, session, mark }
    return { isQuestion: true, plan: view, facts, declined: { ...nothing, declined: true } }
  }
  if (request.session !== undefined) refuseOthers(context, request.session, request.fence)
  // The last moment to cancel: from the journal on, the work is finished.
  hooks.signal?.throwIfAborted()

  const failure = (error: unknown, outcome: RestoreOutcome) =>
    restoreFailure(error, { context, project, request, outcome, files: countFiles(plan) })
  // I3: what is about to be overwritten is in a checkpoint first.
  const safety = await safetyCheckpoint(context, project, {
    captured: before,
    newest,
    reason: `before ${request.reason}`,
    rewind: request.rewind,
  }).catch((error: unknown) => {
    throw failure(error, { type: 'untouched' })
  })
  failpoint('restore:safety-made')
  const operation = parseOperationId(makeId(context.clock.random))
  const entries = journalEntries(plan)
  // Only what was planned: with another .gitignore back in place, files that were ignored all along look
  // like files made later.
  const only = changedPaths(entries)
  const firm = uncancellable(hooks)
  const work = { request, plan, entries, only, safety, operation, rootInode, hooks: firm }
  const undone = async (error: unknown) =>
    failure(error, await takeBackUnfinished(context, project, { safety, hooks: firm }))
  const { after, partial } = await carryOut(context, project, work).catch(
    async (error: unknown) => {
      throw await undone(error)
    },
  )
  const done = { after, planned: only, safety, operation, request, fence: request.fence }
  const checkpoint = await commitRestore(context, project, done).catch(async (error: unknown) => {
    throw isRefusedBySession(error) ? await undone(error) : failure(error, { type: 'unrecorded' })
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

/** Equal for two plans that would do the same, to the same contents. */
function markOf(request: RestoreRequest, { write, remove, keep }: RestorePlan): string {
  const { kind, of, target, goal, paths = null, keepMine = false, session } = request
  const moved = session === undefined || session.revertFrom === null ? null : session
  const parts = [kind, of, target, goal, paths, keepMine, moved, write, remove, keep]
  return createHash('sha256').update(JSON.stringify(parts)).digest('hex')
}

/** A path that the plan writes is restored: the target holds it, whatever today's rules say. */
function withoutWritten(subject: RestoreSubject, { write }: RestorePlan): RestoreSubject {
  if (subject.notRestored === undefined) return subject
  const written = new Set(write.map(({ path }) => pathText(path)))
  return {
    ...subject,
    notRestored: subject.notRestored.filter(({ path }) => !written.has(path)),
  }
}

/** Half a rewind is worse than none. If even this fails, the journal stays and the next command tries again. */
async function takeBackUnfinished(
  context: StoreContext,
  project: Project,
  { safety, hooks }: { readonly safety: FilesCheckpoint; readonly hooks: Hooks },
): Promise<RestoreOutcome> {
  const journals = new Journals(context.home)
  const journal = journals.read(project)
  if (journal === undefined) return { type: 'untouched' }
  const inode = rootInodeOf(project)
  // A folder that was moved away may come back.
  if (inode === GONE) return { type: 'unfinished' }
  if (journal.rootInode !== inode) {
    journals.remove(project.id)
    return { type: 'replaced' }
  }
  try {
    const left = await takeBack(context, project, { journal, safety, hooks })
    tellLeft(left, { safety, hooks })
    return { type: 'taken-back', left: left.length }
  } catch (second) {
    return { type: 'unfinished', second }
  }
}

function countFiles({ write, remove }: RestorePlan): number {
  const folders = [...write.map(({ to }) => to), ...remove.map(({ from }) => from)]
  return folders.filter(({ type }) => type !== 'folder').length
}
