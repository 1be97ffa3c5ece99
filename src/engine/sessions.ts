// All sessions of the store; forgetting one; a second one from any point of the first.
import * as z from 'zod/mini'
import {
  type Checkpoint,
  type FilesCheckpoint,
  hasFiles,
  IN_PROGRESS,
  makeId,
  parseCheckpointId,
  parsePathText,
  parseSessionId,
  type Project,
  SavestateError,
  type Session,
  type SessionFacts,
  type StateCheckpoint,
} from '../model/index.js'
import { type StoreContext, withProjectLock } from './context.js'
import { nameTarget } from './describe-target.js'
import { isHeld, openInTransaction, unknownSession } from './open-session.js'
import type { LeaseToken } from '../ledger/index.js'
import { storeOperation } from './operation.js'
import type { SessionContext } from './session-context.js'
import { resolveInSession, type SessionSummary, summarize } from './session-queries.js'
import { isInterrupted, type SessionView, viewSession } from './session-view.js'

export type SessionsResult = {
  readonly sessions: readonly (SessionView & { readonly summary: SessionSummary })[]
}

export const listSessions = storeOperation({
  name: 'sessions',
  summary: 'List the sessions, last touched first',
  effect: 'reads',
  input: () =>
    z.strictObject({
      status: z.optional(z.enum(['in_progress', 'completed', 'failed', 'halted'])),
      /** Only those in progress that no process is working on. */
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

export type Deletion = {
  /** Of our own handle. */
  readonly fence?: number
  /** For who has chosen it earlier: whether it is still one to be deleted, for others may have gone on with it. */
  readonly isDue?: (session: Session) => boolean
}

/** Removes a session and its checkpoints; absent is 0. A live writer elsewhere is refused, our own handle is not. */
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
 * A new session that begins at a checkpoint of another. Its first checkpoint is one of its own and holds the same
 * state and snapshot: it shares everything, disturbs nothing, and outlives the other.
 */
export function forkSession(
  context: StoreContext,
  from: Checkpoint,
  request: ForkRequest,
): Promise<SessionContext> {
  const work = () => forkFrom(context, from, request)
  const project = hasFiles(from) ? context.ledger.project(from.project) : undefined
  // Objects and refs of a project are written by one at a time.
  if (project !== undefined) return withProjectLock(context, project, { purpose: 'fork', work })
  return context.objects.shared(work)
}

type ForkRequest = { readonly id: string; readonly agent?: string | undefined }

async function forkFrom(
  context: StoreContext,
  from: Checkpoint,
  request: ForkRequest,
): Promise<SessionContext> {
  const { ledger, clock } = context
  // A prune may have been quicker; from here on its objects stay.
  if (ledger.checkpoints.get(from.id) === undefined) throw unknownCheckpoint(from.id)
  const origin = from.session === null ? undefined : ledger.sessions.byKey(from.session.key)
  const projectId = from.project ?? origin?.project ?? null
  const project = projectId === null ? undefined : ledger.project(projectId)
  const createdAtMs = clock.nowMs()
  const fork = {
    id: parseCheckpointId(makeId(clock.random)),
    reason: `fork of ${nameTarget(from)}`,
    createdAtMs,
  }
  const files = await filesOfFork(context, from, { ...fork, project })
  const details = ledger.checkpoints.details(from.id)
  const agent = request.agent ?? origin?.agent ?? undefined
  return ledger.transaction(() => {
    // Its state too: nothing kept that from a collection in the meantime.
    if (ledger.checkpoints.get(from.id) === undefined) throw unknownCheckpoint(from.id)
    const opened = openInTransaction(context, { id: request.id, agent, project, must: 'be new' })
    const { hold } = opened
    const session = factsOfFork(hold, { from, agent })
    ledger.checkpoints.insert(
      { ...fork, kind: 'save', name: null, pinned: false, authors: [], session, ...files },
      details,
    )
    const { status } = session
    ledger.sessions.advance(hold, { head: fork.id, status, atMs: createdAtMs, leaseUntilMs: null })
    ledger.sessions.setForkedFrom(hold, from.id)
    if (from.session !== null) {
      const { key, step } = from.session
      ledger.tools.copyTo(hold.key, { session: key, step })
    }
    return opened
  })
}

type Fork = Pick<Checkpoint, 'id' | 'createdAtMs'> & {
  readonly reason: string
  readonly project: Project | undefined
}
type FilesOfFork =
  | Pick<FilesCheckpoint, 'project' | 'commit' | 'snapshot' | 'changes'>
  | Pick<StateCheckpoint, 'project' | 'commit' | 'snapshot' | 'changes'>

/** A commit and a ref of its own for the same tree. */
async function filesOfFork(
  { snapshots }: StoreContext,
  from: Checkpoint,
  { id, reason, createdAtMs, project }: Fork,
): Promise<FilesOfFork> {
  if (!hasFiles(from) || project === undefined)
    return { project: project?.id ?? null, commit: null, snapshot: null, changes: null }
  const { commit } = await snapshots.record({
    tree: from.snapshot.tree,
    project: project.id,
    projectPath: project.path,
    checkpoint: id,
    kind: 'save',
    reason,
    createdAtMs,
  })
  const changes = { files: 0, insertions: 0, deletions: 0 }
  return { project: project.id, commit, snapshot: from.snapshot, changes }
}

function factsOfFork(
  { key, id }: LeaseToken,
  { from, agent }: { readonly from: Checkpoint; readonly agent: string | undefined },
): SessionFacts {
  const { id: parent, session } = from
  return {
    key,
    id,
    agent: agent ?? null,
    parent,
    step: 0,
    status: IN_PROGRESS,
    turn: 0,
    toolCall: null,
    state: session?.state ?? null,
    schemaVersion: session?.schemaVersion ?? null,
    metadata: session?.metadata,
    operationId: null,
  }
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
