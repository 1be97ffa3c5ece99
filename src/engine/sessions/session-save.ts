// Adds a checkpoint to a session: a state, a snapshot, or both. Writes objects and the ref first; then one transaction with the
// new elements of the state, the checkpoint and the session's head (I1, I2).
import * as z from 'zod/mini'
import {
  type ChangeEvent,
  type Checkpoint,
  IN_PROGRESS,
  parseName,
  parseReason,
  USER_AUTHOR,
  type Project,
  SavestateError,
  type Session,
  type Status,
  type UncapturedChanges,
} from '../../model/index.js'
import type { Captured } from '../../snapshot/index.js'
import { failpoint } from '../../system/index.js'
import { captureForRecord, isSameAsCheckpoint } from '../checkpoints/capture.js'
import { checkName } from '../checkpoints/pin-and-name.js'
import type { Callbacks } from '../operation/callbacks.js'
import { type Attribution, attributeChanges } from '../authorship/note-authors.js'
import { prepareCheckpoint } from '../checkpoints/record-checkpoint.js'
import { sessionOperation } from '../operation/operation.js'
import { withRecoveredProject } from '../restore/recover.js'
import { leaseExpiryMs, projectOf, type SessionContext, readSession } from './session-context.js'
import { createDraft, asNextStep } from './session-draft.js'
import { parseStatusInput, type StatusInput } from './session-status.js'
import { copyAtCall, writeAppended, writeWholeState, type WriteState } from './write-queue.js'
import { eventInput, statusInput, wholeText } from '../operation/input-schemas.js'
import { scanUncaptured, onlyUncapturedText } from '../authorship/uncaptured-changes.js'
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

/** Everything in a save except its state. Not exported, because our published types must not need zod's. */
type SaveOptions = Partial<z.infer<z.ZodMiniObject<ReturnType<typeof saveOptionsInput>>>>

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
  const waits = input.files === true || !context.writeQueue.isFree
  return { ...input, metadata: copyAtCall(context, input.metadata, { waits }) }
}

export type OncePerTurnResult =
  | SessionSaveResult
  | { readonly created: false; readonly reason: 'once-per-turn' | 'unchanged' }

/** The last turn whose files were saved; kept as long as the session is open. */
export class SavedTurns {
  turn: number | undefined
}

/** For callers that cannot tell which tool changes files. */
export const saveOncePerTurn = sessionOperation({
  name: 'saveOncePerTurn',
  summary: 'Save the files once in this turn, if they changed',
  effect: 'adds',
  input: () => z.strictObject({ reason: z.string(), turns: z.instanceof(SavedTurns) }),
  async run(context, { reason, turns }, callbacks): Promise<OncePerTurnResult> {
    projectOf(context)
    const { turn } = readSession(context)
    if (turns.turn === turn) return { created: false, reason: 'once-per-turn' }
    const saved = await addCheckpoint(
      context,
      { reason, files: true, ifChanged: true },
      // The agent has not changed anything in this turn yet.
      { callbacks, writeState: (base) => base, moment: { type: 'look' } },
    )
    // Only after a success: after a failure the next call tries again.
    turns.turn = turn
    return saved.created ? saved : { created: false, reason: 'unchanged' }
  },
})

type Work = {
  readonly callbacks: Callbacks
  readonly writeState: WriteState
  /** Replaces the one of the save's options. */
  readonly moment?: ChangeEvent
}

async function addCheckpoint(
  context: SessionContext,
  input: SaveOptions,
  { callbacks, writeState, moment }: Work,
): Promise<SessionSaveResult> {
  callbacks.signal?.throwIfAborted()
  const known = findSavedOperation(context, input.operationId)
  if (known !== undefined) return known
  if (input.files !== true) return commit(context, input, { writeState })
  const project = projectOf(context)
  return withRecoveredProject(context, project, {
    purpose: 'save',
    callbacks,
    work: async () => {
      const captured = await captureForRecord(context, project, callbacks)
      failpoint('save:captured')
      const event = moment ?? input.moment ?? defaultMoment(context, project)
      const attribution = attributeChanges(context, project, event)
      const scan = scanUncaptured(context, project, { captured, mode: input.uncaptured })
      const same = input.ifChanged === true ? findUnchanged(context, project, captured) : undefined
      const uncaptured =
        scan.changes.length === 0
          ? undefined
          : { by: input.reason ?? 'a call', changes: scan.changes }
      if (same !== undefined && uncaptured === undefined) {
        attribution.recordNoChange()
        scan.remember()
        return same
      }
      const files = { captured, attribution, uncaptured }
      const reason = same && uncaptured ? onlyUncapturedText(uncaptured) : input.reason
      const saved = await commit(context, { ...input, reason }, { writeState, files })
      scan.remember()
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

type CapturedFiles = {
  readonly captured: Captured
  readonly attribution: Attribution
  readonly uncaptured: UncapturedChanges | undefined
}

/** Writes the rows; objects and refs are written before. */
async function commit(
  context: SessionContext,
  input: SaveOptions,
  { writeState, files }: { readonly writeState: WriteState; readonly files?: CapturedFiles },
): Promise<SessionSaveResult> {
  const { ledger, memory, lease } = context
  const labels = {
    kind: 'save',
    name: input.name === undefined ? null : parseName(input.name),
    reason: input.reason === undefined ? null : parseReason(input.reason),
  } as const
  // Without files there is no await: the state is read before the call returns.
  const draft =
    files === undefined ? createDraft(context, labels) : await prepareFiles(context, labels, files)
  const details = files && { ...files.captured.snapshot, uncaptured: files.uncaptured }
  failpoint('save:before-row')
  try {
    const saved = ledger.transaction((): SessionSaveResult => {
      ledger.sessions.check(lease)
      // Check again: another process may have saved it meanwhile.
      const known = findSavedOperation(context, input.operationId)
      if (known !== undefined) return known
      const { operationId = null, toolCall = null, schemaVersion = null, metadata } = input
      // A checkpoint that a rewind has reverted loses only the id.
      const reverted =
        operationId === null ? undefined : ledger.checkpoints.byOperation(lease.key, operationId)
      if (reverted !== undefined) ledger.checkpoints.releaseOperation(reverted.id)
      const session = readSession(context)
      refuseMovedHead(session, input.ifHead)
      const parent = session.head
      const head = parent === null ? undefined : ledger.checkpoints.get(parent)
      const state = writeState(head?.session?.state ?? undefined) ?? null
      const status = statusAfter(session.status, input.status)
      const position = { status, parent, toolCall, state, schemaVersion, metadata, operationId }
      const made = asNextStep(draft, session, position)
      ledger.checkpoints.insert(made, details)
      files?.attribution.made(made.id)
      if (made.name !== null && input.namedBy !== undefined)
        ledger.nameOwners.record(made.id, input.namedBy)
      const atMs = made.createdAtMs
      const leaseUntilMs = leaseExpiryMs(context)
      ledger.sessions.advance(lease, { head: made.id, status, atMs, leaseUntilMs })
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

/** Writes the commit and the ref. */
function prepareFiles(
  context: SessionContext,
  labels: Pick<Checkpoint, 'kind' | 'name' | 'reason'>,
  { captured, attribution: { authors } }: CapturedFiles,
): Promise<Checkpoint> {
  const project = projectOf(context)
  const previous = context.ledger.checkpoints.newestFiles(project.id)?.snapshot.tree
  return prepareCheckpoint(context, project, { captured, facts: { ...labels, previous, authors } })
}

/** A save continues a session that had ended, unless it sets a status. */
function statusAfter(now: Status, input: StatusInput | undefined): Status {
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
