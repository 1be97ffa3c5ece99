// The tool journal: what the agent is about to do is written down before it does it, and the outcome after.
// So a call that was confirmed is never made twice, and one that was under way when the agent died is known.
import * as z from 'zod/mini'
import { createHash } from 'node:crypto'
import {
  encodeValue,
  isError,
  parseWholeText,
  SavestateError,
  type ToolCall,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { sessionOperation, unknownOptions } from '../operation/operation.js'
import { type SessionContext, sessionNow } from './session-context.js'
import { asAtCall } from './copy-at-call.js'
import { wholeText } from '../operation/input-schemas.js'

export type ToolRequest = {
  readonly id: string
  readonly name: string
  readonly args?: unknown
}

/** What a running tool is given. */
export type ToolRun = {
  /** The same for every attempt at this call: to be handed to services that know of such keys. */
  readonly idempotencyKey: string
  /** Keeps a piece of the result at once; what a dead call has streamed can be read on resume. */
  partial(value: unknown): void
}

export type InFlight = {
  readonly id: string
  readonly name: string
  readonly args: unknown
  readonly idempotencyKey: string
  readonly startedAt: Date
  /** It was begun and its end is not known: it may have happened or not. */
  readonly effect: 'unverified'
  readonly partials: readonly unknown[]
}

/** In front of the keys of steps that are no tools. */
const ONCE = 'once:'

/** Runs a tool once. Throws what it threw, also when that was in an earlier process. */
export async function runTool<Result>(
  context: SessionContext,
  request: ToolRequest,
  run: (call: ToolRun) => Promise<Result> | Result,
): Promise<Result> {
  checkCall(request, run)
  if (request.id.startsWith(ONCE)) {
    throw new SavestateError('BAD_INPUT', `The id of a tool call must not start with "${ONCE}"`, {
      hint: 'That prefix is reserved for the steps of session.step.',
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
  const { ledger, hold, order } = context
  const asked = { ...request, args: asAtCall(context, request.args) }
  const begun = await order.do(async () => begin(context, asked))
  if ('ended' in begun) return outcomeOf(begun.ended) as Result
  const { call } = begun
  const { idempotencyKey, startedAtMs } = call
  const partial = (value: unknown) => {
    ledger.transaction(() => {
      ledger.sessions.check(hold)
      ledger.tools.addPartial(hold.key, { id, startedAtMs, value })
    })
  }
  try {
    // Its turn is over: while it runs it may save.
    const result = await ranTool(context, call, () => run({ idempotencyKey, partial }))
    failpoint('tool:ran')
    await noteEnd(context, call, { status: 'confirmed', outcome: result })
    failpoint('tool:confirmed')
    return result
  } finally {
    context.running.delete(id)
  }
}

type Beginning = { readonly ended: ToolCall } | { readonly call: Begun }

/** Notes that it is about to run, unless its end is known. */
function begin(context: SessionContext, { id, name, args }: ToolRequest): Beginning {
  const { ledger, hold, clock } = context
  const known = ledger.tools.get(hold.key, id)
  if (known !== undefined && known.status !== 'started') return { ended: known }
  if (context.running.has(id)) {
    throw new SavestateError('BAD_INPUT', `The tool call ${JSON.stringify(id)} is running already`)
  }
  if (known !== undefined && !context.retried.has(id)) throw unverified(known)
  const idempotencyKey = known?.idempotencyKey ?? keyOf(hold.id, { id, name })
  const startedAtMs = context.starts.next(clock.nowMs())
  const call = { id, idempotencyKey, startedAtMs }
  ledger.transaction(() => {
    ledger.sessions.check(hold)
    if (known === undefined) {
      const step = sessionNow(context).nextStep
      ledger.tools.start(hold.key, { id, name, args, idempotencyKey, step, startedAtMs })
    } else ledger.tools.restart(hold.key, { id, atMs: startedAtMs })
  })
  failpoint('tool:started')
  context.retried.delete(id)
  context.running.add(id)
  return { call }
}

/** The same for a step that is no tool. */
export async function runStep<Result>(
  context: SessionContext,
  key: string,
  run: () => Promise<Result> | Result,
): Promise<Result> {
  // Two objects would be one and the same key, and the second step would not run.
  if (typeof key !== 'string')
    throw new SavestateError('BAD_INPUT', 'The key of step must be a string')
  parseWholeText(key, 'The key of step')
  const request = { id: `${ONCE}${key}`, name: 'once', args: key }
  if (typeof run !== 'function')
    throw new SavestateError('BAD_INPUT', `The function of step ${JSON.stringify(key)} is missing`)
  return runCall(context, request, run)
}

/** Before anything is noted of it: a call that could never run would be kept as one that failed. */
function checkCall(request: ToolRequest, run: unknown): void {
  const { id, name, args: _args, ...others }: Partial<ToolRequest> = request ?? {}
  const unknown = Object.keys(others)
  if (unknown.length > 0) throw unknownOptions('tool', unknown, ['id', 'name', 'args'])
  if (typeof id !== 'string' || id === '' || typeof name !== 'string' || name === '')
    throw new SavestateError('BAD_INPUT', 'A tool call must have an id and a name, both strings')
  parseWholeText(id, 'The id of a tool call')
  parseWholeText(name, 'The name of a tool')
  if (typeof run !== 'function')
    throw new SavestateError(
      'BAD_INPUT',
      `The function that runs ${JSON.stringify(name)} is missing`,
    )
}

async function ranTool<Result>(
  context: SessionContext,
  call: Begun,
  run: () => Promise<Result> | Result,
): Promise<Result> {
  try {
    return await run()
  } catch (error) {
    await noteEnd(context, call, { status: 'failed', outcome: storable(error) })
    throw error
  }
}

/** Also of a call whose session was closed meanwhile: it did happen. */
async function noteEnd(context: SessionContext, call: Begun, ended: End): Promise<void> {
  const outcome = asAtCall(context, ended.outcome)
  try {
    await context.order.finish(async () => end(context, call, { ...ended, outcome }))
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'STORE_CLOSED') throw error
    throw new SavestateError(
      error.code,
      `The store was closed while the tool call ${JSON.stringify(call.id)} was running, so its outcome was not recorded`,
      {
        hint: 'It is in flight when the session is resumed: say then what happened, with `resolveToolCall`.',
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
    const { ledger, hold } = context
    const known = ledger.tools.get(hold.key, id)
    if (known?.status !== 'started') {
      throw new SavestateError('BAD_INPUT', `No tool call ${JSON.stringify(id)} is in flight`)
    }
    if (as === 'confirmed') end(context, known, { status: 'confirmed', outcome: result })
    else if (as === 'skipped') end(context, known, { status: 'skipped', outcome: undefined })
    else {
      ledger.transaction(() => ledger.sessions.check(hold))
      context.retried.add(id)
    }
  },
})

/** The calls of a session that were begun and have no end. */
export function inFlight({ ledger, hold }: SessionContext): InFlight[] {
  return ledger.tools.list(hold.key, { status: 'started' }).map((call) => ({
    id: call.id,
    name: call.name,
    args: call.args,
    idempotencyKey: call.idempotencyKey,
    startedAt: new Date(call.startedAtMs),
    effect: 'unverified',
    partials: ledger.tools.partials(hold.key, call),
  }))
}

type Begun = Pick<ToolCall, 'id' | 'idempotencyKey' | 'startedAtMs'>

type End = {
  readonly status: 'confirmed' | 'failed' | 'skipped'
  readonly outcome: unknown
}

function end({ ledger, hold, clock }: SessionContext, begun: Begun, ended: End): void {
  const { id, idempotencyKey, startedAtMs } = begun
  const call = { id, idempotencyKey, startedAtMs, ...ended, atMs: clock.nowMs() }
  ledger.transaction(() => {
    ledger.sessions.check(hold)
    ledger.tools.end(hold.key, call)
  })
}

function outcomeOf(call: ToolCall): unknown {
  if (call.status === 'failed') throw call.error
  return call.result
}

/** What was thrown; where it cannot be kept as it is, what every error has. */
function storable(error: unknown): unknown {
  try {
    encodeValue(error)
    return error
  } catch {
    // It may be a getter of the caller's that throws, and anything at all. The caller gets what the tool threw.
    return described(error)
  }
}

function described(error: unknown): Error {
  const message = textFrom(() => (isError(error) ? error.message : error)) ?? UNKNOWN
  const name = isError(error) ? textFrom(() => error.name) : undefined
  return Object.assign(new Error(message), { name: name ?? 'Error' })
}

const UNKNOWN = 'The tool threw something that cannot be shown'

/** Undefined if the value is one that makes no text. */
function textFrom(read: () => unknown): string | undefined {
  try {
    return String(read())
  } catch {
    return undefined
  }
}

function keyOf(session: string, call: { readonly id: string; readonly name: string }): string {
  const text = JSON.stringify([session, call.id, call.name])
  return `savestate-${createHash('sha256').update(text).digest('hex').slice(0, 32)}`
}

function unverified({ id, name, idempotencyKey }: ToolCall): SavestateError {
  return new SavestateError(
    'TOOL_UNVERIFIED',
    `The call ${JSON.stringify(id)} of ${name} was running when its process ended: it may have taken effect`,
    {
      hint: `Check whether it has (its key is ${idempotencyKey}), then call session.resolveToolCall(id, { as: 'confirmed' | 'retry' | 'skipped' }).`,
    },
  )
}
