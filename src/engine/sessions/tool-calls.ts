// The tool journal: a row before each tool call, and its outcome after it. So a confirmed call never runs twice, and a call that
// was running when the agent died is known.
import * as z from 'zod/mini'
import { createHash } from 'node:crypto'
import {
  encodeValue,
  isError,
  parseStorableText,
  SavestateError,
  type ToolCall,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { sessionOperation, unknownOptions } from '../operation/operation.js'
import { type SessionContext, readSession } from './session-context.js'
import { acknowledge } from './shared-sessions.js'
import { copyAtCall } from './write-queue.js'
import { wholeText } from '../operation/input-schemas.js'

export type ToolRequest = {
  readonly id: string
  readonly name: string
  readonly args?: unknown
}

export type ToolRun = {
  /** The same for every attempt at this call, for services that accept such keys. */
  readonly idempotencyKey: string
  /** Stores a piece of the result at once: if the process dies, `resume` returns the pieces. */
  partial(value: unknown): void
}

export type InFlight = {
  readonly id: string
  readonly name: string
  readonly args: unknown
  readonly idempotencyKey: string
  readonly startedAt: Date
  /** It was started and its outcome is unknown: it may have taken effect or not. */
  readonly effect: 'unverified'
  readonly partials: readonly unknown[]
}

/** The prefix of ids that `runStep` makes. */
const ONCE = 'once:'

/** Runs a tool once. Rethrows its error, even if the call failed in an earlier process. */
export async function runTool<Result>(
  context: SessionContext,
  request: ToolRequest,
  run: (call: ToolRun) => Promise<Result> | Result,
): Promise<Result> {
  checkCall(request, run)
  if (request.id.startsWith(ONCE)) {
    throw new SavestateError('BAD_INPUT', `The id of a tool call must not start with "${ONCE}"`, {
      hint: 'That prefix is reserved for session.step().',
    })
  }
  return runCall(context, request, run)
}

async function runCall<Result>(
  context: SessionContext,
  request: ToolRequest,
  run: (call: ToolRun) => Promise<Result> | Result,
): Promise<Result> {
  const { id } = request
  const { ledger, lease, writeQueue, share } = context
  const asked = { ...request, args: copyAtCall(context, request.args) }
  // Without a remote there is no await: the call takes its place in the queue at once.
  if (share !== undefined) await share.expectLease()
  const started = await writeQueue.do(async () => startCall(context, asked))
  if ('ended' in started) {
    await acknowledge(context)
    if (started.ended.status === 'failed') throw started.ended.error
    return started.ended.result as Result
  }
  const { call } = started
  const { idempotencyKey, startedAtMs } = call
  const partial = (value: unknown) => {
    ledger.transaction(() => {
      ledger.sessions.check(lease)
      ledger.tools.addPartial(lease.key, { id, startedAtMs, value })
    })
    share?.acknowledgeLater()
  }
  try {
    if (context.fleet !== undefined) await shareIntent(context, id)
    // Outside the queue: while the tool runs it may save.
    let result: Result
    try {
      result = await run({ idempotencyKey, partial })
    } catch (error) {
      await recordEnd(context, call, { status: 'failed', outcome: toStorable(error) })
      await acknowledge(context)
      throw error
    }
    failpoint('tool:ran')
    await recordEnd(context, call, { status: 'confirmed', outcome: result })
    failpoint('tool:confirmed')
    await acknowledge(context)
    return result
  } finally {
    context.running.delete(id)
  }
}

/** The remote has the intent before the tool runs, or another host would not know of the call if this one dies. */
async function shareIntent(context: SessionContext, id: string): Promise<void> {
  const { share, retried } = context
  try {
    await acknowledge(context)
    await share?.expectLease()
  } catch (error) {
    // The tool was not started, so this process may start it later.
    retried.add(id)
    throw error
  }
}

type Start = { readonly ended: ToolCall } | { readonly call: StartedCall }

/** Records that the call starts, unless its outcome is known. */
function startCall(context: SessionContext, { id, name, args }: ToolRequest): Start {
  const { ledger, lease, clock } = context
  const known = ledger.tools.get(lease.key, id)
  if (known !== undefined && known.status !== 'started') return { ended: known }
  if (context.running.has(id)) {
    throw new SavestateError('BAD_INPUT', `The tool call ${JSON.stringify(id)} is running already`)
  }
  if (known !== undefined && !context.retried.has(id)) throw unverifiedError(known)
  const idempotencyKey = known?.idempotencyKey ?? idempotencyKeyFor(lease.id, id, name)
  const startedAtMs = context.starts.next(clock.nowMs())
  const call = { id, idempotencyKey, startedAtMs }
  ledger.transaction(() => {
    ledger.sessions.check(lease)
    if (known === undefined) {
      const step = readSession(context).nextStep
      ledger.tools.start(lease.key, { id, name, args, idempotencyKey, step, startedAtMs })
    } else ledger.tools.restart(lease.key, { id, atMs: startedAtMs })
  })
  failpoint('tool:started')
  context.retried.delete(id)
  context.running.add(id)
  return { call }
}

/** Like `runTool`, for a step that is no tool. */
export async function runStep<Result>(
  context: SessionContext,
  key: string,
  run: () => Promise<Result> | Result,
): Promise<Result> {
  // Two objects would have the same text, and the second step would not run.
  if (typeof key !== 'string')
    throw new SavestateError('BAD_INPUT', 'The key of step must be a string')
  parseStorableText(key, 'The key of step')
  const request = { id: `${ONCE}${key}`, name: 'once', args: key }
  if (typeof run !== 'function')
    throw new SavestateError('BAD_INPUT', `The function of step ${JSON.stringify(key)} is missing`)
  return runCall(context, request, run)
}

/** Before the first row: otherwise an invalid call would be recorded as failed. */
function checkCall(request: ToolRequest, run: unknown): void {
  const { id, name, args: _args, ...others }: Partial<ToolRequest> = request ?? {}
  const unknown = Object.keys(others)
  if (unknown.length > 0) throw unknownOptions('tool', unknown, ['id', 'name', 'args'])
  if (typeof id !== 'string' || id === '' || typeof name !== 'string' || name === '')
    throw new SavestateError('BAD_INPUT', 'A tool call must have an id and a name, both strings')
  parseStorableText(id, 'The id of a tool call')
  parseStorableText(name, 'The name of a tool')
  if (typeof run !== 'function')
    throw new SavestateError(
      'BAD_INPUT',
      `The function that runs ${JSON.stringify(name)} is missing`,
    )
}

/** Records the outcome even if the session was closed meanwhile. */
async function recordEnd(context: SessionContext, call: StartedCall, ended: Ending): Promise<void> {
  const outcome = copyAtCall(context, ended.outcome)
  try {
    await context.writeQueue.finish(async () => endCall(context, call, { ...ended, outcome }))
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'STORE_CLOSED') throw error
    throw new SavestateError(
      error.code,
      `The store was closed while the tool call ${JSON.stringify(call.id)} was running, so its outcome was not recorded`,
      {
        hint: 'Resume the session, then record what happened with `resolveToolCall`.',
        cause: ended.status === 'failed' ? ended.outcome : error,
      },
    )
  }
}

export const resolveToolCall = sessionOperation({
  name: 'resolveToolCall',
  summary: 'Record what happened to a tool call that was running',
  effect: 'adds',
  input: () =>
    z.strictObject({
      id: wholeText(),
      as: z.enum(['confirmed', 'retry', 'skipped']),
      result: z.optional(z.unknown()),
    }),
  async run(context, { id, as, result }): Promise<void> {
    const { ledger, lease } = context
    const known = ledger.tools.get(lease.key, id)
    if (known?.status !== 'started') {
      throw new SavestateError('BAD_INPUT', `No tool call ${JSON.stringify(id)} is in flight`)
    }
    if (as === 'confirmed') endCall(context, known, { status: 'confirmed', outcome: result })
    else if (as === 'skipped') endCall(context, known, { status: 'skipped', outcome: undefined })
    else {
      ledger.transaction(() => ledger.sessions.check(lease))
      context.retried.add(id)
    }
  },
})

/** The calls of a session that were started and have no outcome. */
export function inFlight({ ledger, lease }: SessionContext): InFlight[] {
  return ledger.tools.list(lease.key, { status: 'started' }).map((call) => ({
    id: call.id,
    name: call.name,
    args: call.args,
    idempotencyKey: call.idempotencyKey,
    startedAt: new Date(call.startedAtMs),
    effect: 'unverified',
    partials: ledger.tools.partials(lease.key, call),
  }))
}

type StartedCall = Pick<ToolCall, 'id' | 'idempotencyKey' | 'startedAtMs'>

type Ending = {
  readonly status: 'confirmed' | 'failed' | 'skipped'
  readonly outcome: unknown
}

function endCall(
  { ledger, lease, clock }: SessionContext,
  started: StartedCall,
  ended: Ending,
): void {
  const { id, idempotencyKey, startedAtMs } = started
  const call = { id, idempotencyKey, startedAtMs, ...ended, atMs: clock.nowMs() }
  ledger.transaction(() => {
    ledger.sessions.check(lease)
    ledger.tools.end(lease.key, call)
  })
}

/** The thrown value, or an error with the same name and message if it cannot be stored. The caller gets the value itself. */
function toStorable(error: unknown): unknown {
  try {
    encodeValue(error)
    return error
  } catch {
    // Anything can be thrown here: a getter of the value may throw.
    return describeThrown(error)
  }
}

function describeThrown(error: unknown): Error {
  const message = tryToString(() => (isError(error) ? error.message : error))
  const name = isError(error) ? tryToString(() => error.name) : undefined
  return Object.assign(new Error(message ?? 'The tool threw a value that cannot be shown'), {
    name: name ?? 'Error',
  })
}

function tryToString(read: () => unknown): string | undefined {
  try {
    return String(read())
  } catch {
    return undefined
  }
}

function idempotencyKeyFor(...call: readonly [session: string, id: string, name: string]): string {
  return `savestate-${createHash('sha256').update(JSON.stringify(call)).digest('hex').slice(0, 32)}`
}

function unverifiedError({ id, name, idempotencyKey }: ToolCall): SavestateError {
  return new SavestateError(
    'TOOL_UNVERIFIED',
    `The call ${JSON.stringify(id)} of ${name} was running when its process ended: it may have taken effect`,
    {
      hint: `Check whether it has (its key is ${idempotencyKey}), then call session.resolveToolCall(id, { as: 'confirmed' | 'retry' | 'skipped' }).`,
    },
  )
}
