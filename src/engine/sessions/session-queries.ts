// Queries of a session. Lists contain no states.
import * as z from 'zod/mini'
import { type Checkpoint, SavestateError, type SessionKey } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { refuseDamagedState } from '../verify/damage-marks.js'
import { sessionOperation } from '../operation/operation.js'
import { resolveInSession } from '../checkpoints/resolve-ref.js'
import { readSession } from './session-context.js'
import { type CheckpointView, viewCheckpoint } from '../checkpoints/views.js'

export { resolveInSession } from '../checkpoints/resolve-ref.js'

export const stateAt = sessionOperation({
  name: 'stateAt',
  summary: 'Read the state of a checkpoint',
  effect: 'reads',
  input: () =>
    z.strictObject({ ref: z.optional(z.string()), keys: z.optional(z.array(z.string())) }),
  withoutInput: () => ({}),
  async run(context, { ref, keys }): Promise<unknown> {
    const { head } = readSession(context)
    const checkpoint =
      ref !== undefined
        ? resolveInSession(context, context.lease.key, ref)
        : head === null
          ? undefined
          : context.ledger.checkpoints.get(head)
    return checkpoint === undefined ? undefined : readState(context, checkpoint, keys)
  },
})

/** Undefined if the checkpoint has no state. */
export function readState(
  context: StoreContext,
  checkpoint: Checkpoint,
  keys?: readonly string[],
): unknown {
  const state = checkpoint.session?.state ?? null
  const options = keys === undefined ? {} : { keys }
  return expectState(context, checkpoint, () =>
    state === null ? undefined : context.ledger.states.read(state, options),
  )
}

/** Runs a read of a checkpoint's state; its errors name the checkpoint. */
export function expectState<Value>(
  { ledger }: StoreContext,
  checkpoint: Checkpoint,
  read: () => Value,
): Value {
  refuseDamagedState(ledger, checkpoint)
  try {
    return read()
  } catch (cause) {
    if (!(cause instanceof SavestateError) || cause.code !== 'STORE_DAMAGED') throw cause
    const hint = cause.hint === null ? {} : { hint: cause.hint }
    const message = `Checkpoint ${checkpoint.id}: ${cause.message}`
    throw new SavestateError(cause.code, message, { ...hint, cause })
  }
}

export type SessionSummary = {
  readonly total: number
  readonly uniqueNames: number
  readonly countByName: Readonly<Record<string, number>>
  readonly first: CheckpointView | null
  readonly last: CheckpointView | null
  readonly seconds: number
}

export const summary = sessionOperation({
  name: 'summary',
  summary: 'Count the checkpoints of a session',
  effect: 'reads',
  input: () => z.strictObject({}),
  run: async (context) => summarize(context, context.lease.key),
})

export function summarize({ ledger }: StoreContext, session: SessionKey): SessionSummary {
  const counts = [...ledger.checkpoints.countByName(session)]
  const named = counts.flatMap(([name, count]) => (name === null ? [] : [[name, count] as const]))
  const last = ledger.checkpoints.byNumber({ session }, 1)
  const first = ledger.checkpoints.oldest(session)
  return {
    total: counts.reduce((sum, [, count]) => sum + count, 0),
    uniqueNames: named.length,
    countByName: Object.fromEntries(named),
    first: first === undefined ? null : viewCheckpoint(first),
    last: last === undefined ? null : viewCheckpoint(last),
    seconds: ((last?.createdAtMs ?? 0) - (first?.createdAtMs ?? 0)) / 1000,
  }
}

export type SessionHead = {
  readonly id: string
  readonly metadata: unknown
}

/** Cheap enough for callers that check it before each save. */
export const head = sessionOperation({
  name: 'head',
  summary: 'Find the checkpoint that the next one will follow',
  effect: 'reads',
  input: () => z.strictObject({}),
  async run(context): Promise<SessionHead | undefined> {
    const { head: id } = readSession(context)
    if (id === null) return undefined
    return { id, metadata: context.ledger.checkpoints.get(id)?.session?.metadata }
  },
})
