// Adds a checkpoint to a session: a state, a snapshot, or both. Writes objects and the ref first; then one transaction with the
// new elements of the state, the checkpoint and the session's head (I1, I2).
import * as z from 'zod/mini'
import {
  type CheckpointKind,
  IN_PROGRESS,
  type ChangeEvent,
  type NamedBy,
  USER_AUTHOR,
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
import { checkName } from '../checkpoints/pin-and-name.js'
import type { Callbacks } from '../operation/callbacks.js'
import { type Attribution, attributeChanges, type MomentInput } from '../authorship/note-authors.js'
import { isSameAsCheckpoint } from '../checkpoints/capture.js'
import { sessionOperation } from '../operation/operation.js'
import { withRecoveredProject } from '../restore/recover.js'
import { leaseExpiryMs, projectOf, type SessionContext, readSession } from './session-context.js'
import { createDraft, createDraftWithFiles, asNextStep, parseLabels } from './session-draft.js'
import { parseStatusInput, type StatusInput } from './session-status.js'
import { copyAtCall, writeAppended, writeWholeState, type WriteState } from './copy-at-call.js'
import { eventInput, statusInput, wholeText } from '../operation/input-schemas.js'
import {
  scanUncaptured,
  onlyUncapturedText,
  type UncapturedMode,
} from '../authorship/uncaptured-changes.js'
import { type CheckpointView, viewCheckpoint } from '../checkpoints/views.js'

export type SessionSaveResult = CheckpointView & {
  /** False if it existed already: the same `operationId`, or nothing had changed. */
  readonly created: boolean
}

const saveOptionsInput = () => ({
  name: z.optional(z.string()),
  /** Absent: a program names its own steps. */
  namedBy: z.optional(z.enum(['user', 'agent'])),
  reason: z.optional(z.string()),
  files: z._default(z.boolean(), false),
  /** Add nothing if the project's newest checkpoint has the same files. */
  ifChanged: z._default(z.boolean(), false),
  status: z.optional(statusInput()),
  metadata: z.optional(z.unknown()),
  schemaVersion: z.optional(z.int()),
  toolCall: z.optional(wholeText()),
  /** The checkpoint that must still be the head; null: there must be none yet. */
  ifHead: z.optional(z.nullable(z.string())),
  operationId: z.optional(wholeText()),
  /** The event of the agent that this save belongs to, for callers that report each tool call. */
  moment: z.optional(eventInput()),
  /** Calls since the last capture, to attribute changes of files that are not captured. */
  uncaptured: z.optional(z.enum(['after-calls', 'between-calls', 'forget'])),
})
const saveInput = () => z.strictObject({ ...saveOptionsInput(), state: z.optional(z.unknown()) })
const appendInput = () =>
  z.strictObject({ ...saveOptionsInput(), key: z.string(), items: z.array(z.unknown()) })

/** Everything in a save except its state. Written out, because our published types must not need zod's. */
export type SaveOptions = {
  readonly name?: string | undefined
  readonly namedBy?: NamedBy | undefined
  readonly reason?: string | undefined
  readonly files?: boolean
  readonly ifChanged?: boolean
  readonly status?: StatusInput | undefined
  readonly metadata?: unknown
  readonly schemaVersion?: number | undefined
  readonly toolCall?: string | undefined
  readonly ifHead?: string | null | undefined
  readonly operationId?: string | undefined
  readonly moment?: MomentInput | undefined
  readonly uncaptured?: UncapturedMode | undefined
}

export const saveSession = sessionOperation({
  name: 'save',
  summary: 'Save the state of the agent, and the files if asked',
  effect: 'adds',
  input: saveInput,
  run: async (context, input, callbacks) => {
    context.writeQueue.expectOpen()
    const { name, namedBy: by } = input
    if (name !== undefined && by !== undefined)
      checkName(context, context.project?.id, { name, by })
    const writeState = writeWholeState(context, input)
    const facts = copyMetadata(context, input)
    return context.writeQueue.do(() => addCheckpoint(context, facts, { callbacks, writeState }))
  },
})

export const appendToSession = sessionOperation({
  name: 'append',
  summary: 'Add to a list of the state, at the cost of what is new',
  effect: 'adds',
  input: appendInput,
  run: async (context, { key, items, ...input }, callbacks) => {
    context.writeQueue.expectOpen()
    const writeState = writeAppended(context, { key, items, files: input.files })
    const facts = copyMetadata(context, input)
    return context.writeQueue.do(() => addCheckpoint(context, facts, { callbacks, writeState }))
  },
})

function copyMetadata(context: SessionContext, input: SaveOptions): SaveOptions {
  const waits = input.files || !context.writeQueue.isFree
  return { ...input, metadata: copyAtCall(context, input.metadata, { waits }) }
}

type Work = {
  readonly callbacks: Callbacks
  readonly kind?: CheckpointKind
  readonly writeState: WriteState
  /** Replaces the one of the save's options. */
  readonly moment?: ChangeEvent
}

export async function addCheckpoint(
  context: SessionContext,
  input: SaveOptions,
  work: Work,
): Promise<SessionSaveResult> {
  work.callbacks.signal?.throwIfAborted()
  const known = findSavedOperation(context, input.operationId)
  if (known !== undefined) return known
  if (!input.files) return commit(context, input, { ...work, captured: undefined })
  const project = projectOf(context)
  return withRecoveredProject(context, project, {
    purpose: 'save',
    callbacks: work.callbacks,
    work: async () => {
      const captured = await captureForRecord(context, project, work.callbacks)
      failpoint('save:captured')
      const look = attributeChanges(
        context,
        project,
        work.moment ?? input.moment ?? defaultMoment(context, project),
      )
      const news = scanUncaptured(context, project, { captured, look: input.uncaptured })
      const { changes } = news
      const same = input.ifChanged === true ? findUnchanged(context, project, captured) : undefined
      const isNew = same === undefined || changes.length > 0
      if (!isNew) look.recordNoChange()
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
function defaultMoment({ ledger, lease }: SessionContext, { id }: Project): ChangeEvent {
  const who = ledger.sessions.byKey(lease.key)?.agent ?? SOME_AGENT
  const isNext = ledger.checkpoints.newestFiles(id)?.session?.key === lease.key
  return { type: 'said', who: isNext ? [who] : [who, USER_AUTHOR] }
}

function findUnchanged(
  context: SessionContext,
  { id }: Project,
  captured: Captured,
): SessionSaveResult | undefined {
  const { ledger, clock } = context
  const newest = ledger.checkpoints.newestFiles(id)
  if (!isSameAsCheckpoint(context, newest, captured)) return undefined
  ledger.projectRecords.touch(id, clock.nowMs())
  return { ...viewCheckpoint(newest), created: false }
}

/** The checkpoint with that id, unless a rewind has reverted it: then the id may be saved again. */
function findSavedOperation(
  context: SessionContext,
  operationId: string | undefined,
): SessionSaveResult | undefined {
  if (operationId === undefined) return undefined
  const { checkpoints } = context.ledger
  const found = checkpoints.byOperation(context.lease.key, operationId)
  if (found === undefined || !checkpoints.isBehind(found, readSession(context).head))
    return undefined
  return { ...viewCheckpoint(found), created: false }
}

/** Inside the transaction. A reverted checkpoint loses only the id. */
function releaseOperationId(
  { ledger, lease }: SessionContext,
  operationId: string | undefined,
): void {
  if (operationId === undefined) return
  const left = ledger.checkpoints.byOperation(lease.key, operationId)
  if (left !== undefined) ledger.checkpoints.releaseOperation(left.id)
}

type CommitWork = Work & {
  readonly captured: Captured | undefined
  readonly look?: Attribution | undefined
  readonly uncaptured?: UncapturedChanges | undefined
}

/** Writes the rows; objects and refs are written before. */
export async function commit(
  context: SessionContext,
  input: SaveOptions,
  work: CommitWork,
): Promise<SessionSaveResult> {
  const { ledger, memory } = context
  const { captured, kind = 'save', look } = work
  const labels = parseLabels(input)
  // Without files there is no await: the state is read before the call returns.
  const draft =
    captured === undefined
      ? createDraft(context, { kind, ...labels })
      : await createDraftWithFiles(context, {
          kind,
          ...labels,
          captured,
          authors: look?.authors ?? null,
        })
  failpoint('save:before-row')
  try {
    const saved = ledger.transaction((): SessionSaveResult => {
      ledger.sessions.check(context.lease)
      // Check again: another process may have saved it meanwhile.
      const known = findSavedOperation(context, input.operationId)
      if (known !== undefined) return known
      releaseOperationId(context, input.operationId)
      const session = readSession(context)
      refuseMovedHead(session, input.ifHead)
      const head = session.head === null ? undefined : ledger.checkpoints.get(session.head)
      const state = work.writeState(head?.session?.state ?? undefined) ?? null
      const made = asNextStep(draft, session, { ...sessionFields(input, session), state })
      ledger.checkpoints.insert(made, snapshotDetails(work))
      look?.made(made.id)
      if (made.name !== null && input.namedBy !== undefined)
        ledger.nameOwners.record(made.id, input.namedBy)
      const { status } = made.session
      const atMs = made.createdAtMs
      const leaseUntilMs = leaseExpiryMs(context)
      ledger.sessions.advance(context.lease, { head: made.id, status, atMs, leaseUntilMs })
      return { ...viewCheckpoint(made), created: true }
    })
    failpoint('save:after-row')
    return saved
  } catch (error) {
    // The rows were rolled back, so the memory no longer matches the ledger.
    memory.forget()
    throw error
  }
}

function snapshotDetails({ captured, uncaptured }: CommitWork): SnapshotDetails | undefined {
  return captured === undefined ? undefined : { ...captured.snapshot, uncaptured }
}

function sessionFields(input: SaveOptions, session: Session) {
  return {
    status: statusAfter(session.status, input.status),
    parent: session.head,
    toolCall: input.toolCall ?? null,
    schemaVersion: input.schemaVersion ?? null,
    metadata: input.metadata,
    operationId: input.operationId ?? null,
  }
}

/** A save continues a session that had ended, unless it sets a status. */
function statusAfter(now: Status, input: SaveOptions['status']): Status {
  if (input !== undefined) return parseStatusInput(input)
  return now.state === 'in_progress' ? now : IN_PROGRESS
}

function refuseMovedHead({ head, id }: Session, expected: string | null | undefined): void {
  if (expected === undefined || expected === head) return
  throw new SavestateError(
    'HEAD_MOVED',
    `Session ${JSON.stringify(id)} has ${head === null ? 'no checkpoint yet' : `head ${head}`}; expected ${expected ?? 'none'}`,
    { hint: 'Check what was saved since, then save again on top of it. Nothing was written.' },
  )
}
