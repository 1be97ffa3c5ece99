// Adds a checkpoint to a session: a state, a snapshot, or both. Objects and ref first; then one transaction
// with the new elements of the state, the checkpoint and the session's head (I1, I2).
import * as z from 'zod/mini'
import {
  type CheckpointKind,
  IN_PROGRESS,
  type Moment,
  type NamedBy,
  PERSON,
  type Project,
  SavestateError,
  type Session,
  type SnapshotDetails,
  type Status,
  type UncapturedChanges,
} from '../../model/index.js'
import type { Captured } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { captureForRecord } from '../checkpoints/capture.js'
import { checkName } from '../checkpoints/checkpoint-name.js'
import type { Hooks } from '../operation/callbacks.js'
import { type Look, lookAt, type MomentInput } from '../authorship/note-authors.js'
import { hasNothingNew } from '../checkpoints/is-unchanged.js'
import { sessionOperation } from '../operation/operation.js'
import { withRecoveredProject } from '../restore/recover.js'
import { leaseUntil, projectOf, type SessionContext, sessionNow } from './session-context.js'
import { draftOf, draftWithFiles, inSession, labelsOf } from './session-draft.js'
import { parseStatusInput, type StatusInput } from './session-status.js'
import { asAtCall, longerList, wholeState, type WriteState } from './copy-at-call.js'
import { momentInput, statusInput, wholeText } from '../operation/input-schemas.js'
import {
  lookAtUncaptured,
  onlyUncapturedText,
  type UncapturedLook,
} from '../authorship/uncaptured-changes.js'
import { type CheckpointView, viewCheckpoint } from '../checkpoints/views.js'

export type SessionSaveResult = CheckpointView & {
  /** False when it was there already: the same `operationId`, or nothing had changed. */
  readonly created: boolean
}

const factsInput = () => ({
  name: z.optional(z.string()),
  namedBy: z.optional(z.enum(['user', 'agent'])),
  reason: z.optional(z.string()),
  files: z._default(z.boolean(), false),
  ifChanged: z._default(z.boolean(), false),
  status: z.optional(statusInput()),
  metadata: z.optional(z.unknown()),
  schemaVersion: z.optional(z.int()),
  toolCall: z.optional(wholeText()),
  /** The checkpoint that must still be the head; null: there must be none yet. */
  ifHead: z.optional(z.nullable(z.string())),
  operationId: z.optional(wholeText()),
  moment: z.optional(momentInput()),
  uncaptured: z.optional(z.enum(['after-calls', 'between-calls', 'forget'])),
})
const saveInput = () => z.strictObject({ ...factsInput(), state: z.optional(z.unknown()) })
const appendInput = () =>
  z.strictObject({ ...factsInput(), key: z.string(), items: z.array(z.unknown()) })

/** What a save says of itself besides the state. */
export type Facts = {
  readonly name?: string | undefined
  /** Undefined: the program that saves gives its steps names. */
  readonly namedBy?: NamedBy | undefined
  readonly reason?: string | undefined
  readonly files: boolean
  /** Nothing is added while the project's newest files are as they are now. */
  readonly ifChanged?: boolean
  readonly status?: StatusInput | undefined
  readonly metadata?: unknown
  readonly schemaVersion?: number | undefined
  readonly toolCall?: string | undefined
  readonly ifHead?: string | null | undefined
  readonly operationId?: string | undefined
  /** The event of the agent that this save belongs to, for callers that report each tool call. */
  readonly moment?: MomentInput | undefined
  /** Calls since the last capture, to attribute changes of files that are not captured. */
  readonly uncaptured?: UncapturedLook | undefined
}

export const saveSession = sessionOperation({
  name: 'save',
  summary: 'Save the state of the agent, and the files if asked',
  effect: 'adds',
  input: saveInput,
  run: async (context, input, hooks) => {
    context.order.expectOpen()
    const { name, namedBy: by } = input
    if (name !== undefined && by !== undefined)
      checkName(context, context.project?.id, { name, by })
    const writeState = wholeState(context, input)
    const facts = withMetadata(context, input)
    return context.order.do(() => addCheckpoint(context, facts, { hooks, writeState }))
  },
})

export const appendToSession = sessionOperation({
  name: 'append',
  summary: 'Add to a list of the state, at the cost of what is new',
  effect: 'adds',
  input: appendInput,
  run: async (context, { key, items, ...input }, hooks) => {
    context.order.expectOpen()
    const writeState = longerList(context, { key, items, files: input.files })
    const facts = withMetadata(context, input)
    return context.order.do(() => addCheckpoint(context, facts, { hooks, writeState }))
  },
})

function withMetadata(context: SessionContext, input: Facts): Facts {
  const waits = input.files || !context.order.isFree
  return { ...input, metadata: asAtCall(context, input.metadata, { waits }) }
}

type Work = {
  readonly hooks: Hooks
  readonly kind?: CheckpointKind
  readonly writeState: WriteState
  /** Instead of the one that the save reports. */
  readonly moment?: Moment
}

/** In the order of the session's calls. */
export async function addCheckpoint(
  context: SessionContext,
  input: Facts,
  work: Work,
): Promise<SessionSaveResult> {
  work.hooks.signal?.throwIfAborted()
  const known = sameOperation(context, input.operationId)
  if (known !== undefined) return known
  if (!input.files) return commit(context, input, { ...work, captured: undefined })
  const project = projectOf(context)
  return withRecoveredProject(context, project, {
    purpose: 'save',
    hooks: work.hooks,
    work: async () => {
      const captured = await captureForRecord(context, project, work.hooks)
      failpoint('save:captured')
      const look = lookAt(
        context,
        project,
        work.moment ?? input.moment ?? ownMoment(context, project),
      )
      const news = lookAtUncaptured(context, project, { captured, look: input.uncaptured })
      const { changes } = news
      const same = input.ifChanged === true ? sameFiles(context, project, captured) : undefined
      const isNew = same === undefined || changes.length > 0
      if (!isNew) look.foundNothing()
      const by = input.reason ?? 'a call'
      const uncaptured = changes.length === 0 ? undefined : { by, changes }
      const isOnly = same !== undefined && uncaptured !== undefined
      const facts = isOnly ? { ...input, reason: onlyUncapturedText(uncaptured) } : input
      const saved = isNew
        ? await commit(context, facts, { ...work, captured, look, uncaptured })
        : same
      news.remember()
      return saved
    },
  })
}

const SOME_AGENT = 'agent'

/** Between two saves of one session its agent made the changes; before the first save it may have been the user. */
function ownMoment({ ledger, hold }: SessionContext, { id }: Project): Moment {
  const who = ledger.sessions.byKey(hold.key)?.agent ?? SOME_AGENT
  const isNext = ledger.checkpoints.newestFiles(id)?.session?.key === hold.key
  return { type: 'said', who: isNext ? [who] : [who, PERSON] }
}

function sameFiles(
  context: SessionContext,
  { id }: Project,
  captured: Captured,
): SessionSaveResult | undefined {
  const { ledger, clock } = context
  const newest = ledger.checkpoints.newestFiles(id)
  if (!hasNothingNew(context, newest, captured)) return undefined
  ledger.projectRecords.touch(id, clock.nowMs())
  return { ...viewCheckpoint(newest), created: false }
}

/** What was saved under that id already, unless a rewind has taken it back: then it may be saved again. */
function sameOperation(
  context: SessionContext,
  operationId: string | undefined,
): SessionSaveResult | undefined {
  if (operationId === undefined) return undefined
  const { checkpoints } = context.ledger
  const found = checkpoints.byOperation(context.hold.key, operationId)
  if (found === undefined || !checkpoints.isBehind(found, sessionNow(context).head))
    return undefined
  return { ...viewCheckpoint(found), created: false }
}

/** Inside the transaction: what a rewind has left behind keeps everything but the id. */
function takeOperation({ ledger, hold }: SessionContext, operationId: string | undefined): void {
  if (operationId === undefined) return
  const left = ledger.checkpoints.byOperation(hold.key, operationId)
  if (left !== undefined) ledger.checkpoints.releaseOperation(left.id)
}

type Commitment = Work & {
  readonly captured: Captured | undefined
  /** At what was captured. */
  readonly look?: Look | undefined
  readonly uncaptured?: UncapturedChanges | undefined
}

/** The rows, after the objects and the ref. */
export async function commit(
  context: SessionContext,
  input: Facts,
  work: Commitment,
): Promise<SessionSaveResult> {
  const { ledger, memory } = context
  const { captured, kind = 'save', look } = work
  const labels = labelsOf(input)
  // Without files nothing is waited for: the state is read before the call returns.
  const draft =
    captured === undefined
      ? draftOf(context, { kind, ...labels })
      : await draftWithFiles(context, { kind, ...labels, captured, authors: look?.authors ?? null })
  failpoint('save:before-row')
  try {
    const saved = ledger.transaction((): SessionSaveResult => {
      ledger.sessions.check(context.hold)
      // Again: another process may have been quicker.
      const known = sameOperation(context, input.operationId)
      if (known !== undefined) return known
      takeOperation(context, input.operationId)
      const session = sessionNow(context)
      refuseMovedHead(session, input.ifHead)
      const head = session.head === null ? undefined : ledger.checkpoints.get(session.head)
      const state = work.writeState(head?.session?.state ?? undefined) ?? null
      const made = inSession(draft, session, { ...sessionInput(input, session), state })
      ledger.checkpoints.insert(made, detailsIn(work))
      look?.made(made.id)
      if (made.name !== null && input.namedBy !== undefined)
        ledger.nameOwners.record(made.id, input.namedBy)
      const { status } = made.session
      const atMs = made.createdAtMs
      const leaseUntilMs = leaseUntil(context)
      ledger.sessions.advance(context.hold, { head: made.id, status, atMs, leaseUntilMs })
      return { ...viewCheckpoint(made), created: true }
    })
    failpoint('save:after-row')
    return saved
  } catch (error) {
    // The rows are gone, and with them what the memory believes to be stored.
    memory.forget()
    throw error
  }
}

function detailsIn({ captured, uncaptured }: Commitment): SnapshotDetails | undefined {
  return captured === undefined ? undefined : { ...captured.snapshot, uncaptured }
}

function sessionInput(input: Facts, session: Session) {
  return {
    status: statusAfter(session.status, input.status),
    parent: session.head,
    toolCall: input.toolCall ?? null,
    schemaVersion: input.schemaVersion ?? null,
    metadata: input.metadata,
    operationId: input.operationId ?? null,
  }
}

/** A session that is saved to goes on, unless it is said to end. */
function statusAfter(now: Status, input: Facts['status']): Status {
  if (input !== undefined) return parseStatusInput(input)
  return now.state === 'in_progress' ? now : IN_PROGRESS
}

function refuseMovedHead({ head, id }: Session, expected: string | null | undefined): void {
  if (expected === undefined || expected === head) return
  throw new SavestateError(
    'HEAD_MOVED',
    `The head of the session ${JSON.stringify(id)} is ${head ?? 'none'}, not ${expected ?? 'none'}`,
    { hint: 'Check what was saved since, then save again on top of it. Nothing was written.' },
  )
}
