// Lists, deletes and forks sessions.
import * as z from 'zod/mini'
import {
  type Checkpoint,
  hasFiles,
  IN_PROGRESS,
  parseCheckpointId,
  parsePathText,
  parseSessionId,
  type Project,
  SavestateError,
  type Session,
} from '../../model/index.js'
import { type StoreContext, withProjectLock } from '../operation/context.js'
import { nameTarget } from '../checkpoints/describe-target.js'
import { isHeld, openInTransaction, unknownSession } from './open-session.js'
import { storeOperation } from '../operation/operation.js'
import { type SessionContext, readSession } from './session-context.js'
import { type Draft, createDraft, asNextStep } from './session-draft.js'
import { resolveInSession } from '../checkpoints/resolve-ref.js'
import { type SessionSummary, summarize } from './session-queries.js'
import { isInterrupted, type SessionView, viewSession } from './session-view.js'

export type SessionListItem = SessionView & { readonly summary: SessionSummary }
export type SessionsResult = { readonly sessions: readonly SessionListItem[] }

export const listSessions = storeOperation({
  name: 'sessions',
  summary: 'List the sessions, last touched first',
  effect: 'reads',
  input: () =>
    z.strictObject({
      status: z.optional(z.enum(['in_progress', 'completed', 'failed', 'halted'])),
      /** True: only sessions in progress whose lease no process has. */
      interrupted: z.optional(z.boolean()),
      /** The path of a project. */
      project: z.optional(z.string()),
      limit: z.optional(z.int().check(z.positive())),
    }),
  async run(context, { status, interrupted, project, limit }): Promise<SessionsResult> {
    const known =
      project === undefined ? undefined : context.ledger.projectAt(parsePathText(project))
    if (project !== undefined && known === undefined) return { sessions: [] }
    const nowMs = context.clock.nowMs()
    const wanted = interrupted === true ? 'in_progress' : status
    const sessions = context.ledger.sessions
      .list({ status: wanted, project: known?.id })
      .filter(
        (session) => interrupted === undefined || isInterrupted(session, nowMs) === interrupted,
      )
      .slice(0, limit)
      .map((session) => ({
        ...viewSession(context, session),
        summary: summarize(context, session.key),
      }))
    return { sessions }
  },
})

type Deletion = {
  /** The fence of the caller's own lease, which does not count as use. */
  readonly fence?: number
  /** Called in the transaction: another process may have continued the session since it was chosen. */
  readonly isDue?: (session: Session) => boolean
}

/** Removes a session and its checkpoints; 0 if there is none. Throws SESSION_BUSY if another process has its lease. */
export function deleteSession(
  { ledger, clock }: StoreContext,
  id: string,
  { fence, isDue = () => true }: Deletion = {},
): { readonly removed: number; readonly isDeleted: boolean } {
  return ledger.transaction(() => {
    const session = ledger.sessions.byId(parseSessionId(id))
    if (session === undefined || !isDue(session)) return { removed: 0, isDeleted: false }
    if (session.fence !== fence && isHeld(session.lease, clock.nowMs())) {
      throw new SavestateError('SESSION_BUSY', `The session ${JSON.stringify(id)} is in use`, {
        hint: 'Close it first, or wait until its process ends.',
      })
    }
    return { removed: ledger.sessions.delete(session.key, clock.nowMs()), isDeleted: true }
  })
}

/**
 * Creates a session that starts at a checkpoint of another one. Its first checkpoint is its own and has the same state and
 * snapshot, so it shares all contents and outlives the other session.
 */
export function forkSession(
  context: StoreContext,
  from: Checkpoint,
  request: ForkRequest,
): Promise<SessionContext> {
  const work = () => forkFrom(context, from, request)
  const origin = hasFiles(from) ? context.ledger.project(from.project) : undefined
  const project = request.project ?? origin
  if (project !== undefined) return withProjectLock(context, project, { purpose: 'fork', work })
  return context.objects.shared(work)
}

type ForkRequest = {
  readonly id: string
  readonly agent?: string | undefined
  /** Instead of the project of the checkpoint. */
  readonly project?: Project | undefined
}

async function forkFrom(
  context: StoreContext,
  from: Checkpoint,
  request: ForkRequest,
): Promise<SessionContext> {
  const { ledger, clock } = context
  // A prune may have removed it. From here on the lock keeps its objects.
  if (ledger.checkpoints.get(from.id) === undefined) throw unknownCheckpoint(from.id)
  const origin = from.session === null ? undefined : ledger.sessions.byKey(from.session.key)
  const projectId = request.project?.id ?? from.project ?? origin?.project ?? null
  const project = projectId === null ? undefined : ledger.project(projectId)
  const draft = await createForkDraft({ ...context, project }, from)
  const details = ledger.checkpoints.details(from.id)
  const agent = request.agent ?? origin?.agent ?? undefined
  return ledger.transaction(() => {
    // Check again: a collection may have removed its state meanwhile.
    if (ledger.checkpoints.get(from.id) === undefined) throw unknownCheckpoint(from.id)
    const opened = openInTransaction(context, { id: request.id, agent, project, must: 'be new' })
    const { lease } = opened
    const made = asNextStep(draft, readSession(opened), {
      parent: from.id,
      status: IN_PROGRESS,
      toolCall: null,
      state: from.session?.state ?? null,
      schemaVersion: from.session?.schemaVersion ?? null,
      metadata: from.session?.metadata,
      operationId: null,
    })
    ledger.checkpoints.insert(made, details)
    const atMs = clock.nowMs()
    ledger.sessions.advance(lease, { head: made.id, status: IN_PROGRESS, atMs, leaseUntilMs: null })
    ledger.sessions.setForkedFrom(lease, from.id)
    if (from.session !== null) {
      const { key, step } = from.session
      ledger.tools.copyTo(lease.key, { session: key, step })
    }
    return opened
  })
}

/** With files it gets its own commit and ref for the same tree. */
async function createForkDraft(
  context: StoreContext & { readonly project: Project | undefined },
  from: Checkpoint,
): Promise<Draft> {
  const facts = { kind: 'save', name: null, reason: `fork of ${nameTarget(from)}` } as const
  const draft = { ...createDraft(context, facts), authors: [] }
  const { project } = context
  if (!hasFiles(from) || project === undefined) return draft
  const { commit } = await context.snapshots.record({
    tree: from.snapshot.tree,
    project: project.id,
    projectPath: project.path,
    checkpoint: draft.id,
    kind: 'save',
    reason: facts.reason,
    createdAtMs: draft.createdAtMs,
  })
  const changes = { files: 0, insertions: 0, deletions: 0 }
  return { ...draft, commit, snapshot: from.snapshot, changes } as Draft
}

/** A checkpoint by its whole id, or by a reference within a session. */
export function findCheckpoint(
  context: StoreContext,
  ref: string,
  session: string | undefined,
): Checkpoint {
  const { ledger } = context
  if (session !== undefined) {
    const known = ledger.sessions.byId(parseSessionId(session))
    if (known === undefined) throw unknownSession(session)
    return resolveInSession(context, known.key, ref)
  }
  const found = ledger.checkpoints.get(parseCheckpointId(ref))
  if (found !== undefined) return found
  throw unknownCheckpoint(ref)
}

function unknownCheckpoint(id: string): SavestateError {
  return new SavestateError('CHECKPOINT_UNKNOWN', `No checkpoint has the id ${id}`)
}
