// Reads a part of a long list of a session's state, such as a conversation, without reading the rest.
import * as z from 'zod/mini'
import type { Checkpoint } from '../../model/index.js'
import { resolveInSession } from '../checkpoints/resolve-ref.js'
import { sessionOperation } from '../operation/operation.js'
import { parseDamage } from '../verify/damage-marks.js'
import { readSession, type SessionContext } from './session-context.js'
import { expectState } from './session-queries.js'

export type StoredSlice = {
  readonly items: readonly unknown[]
  /** The length of the whole list. */
  readonly total: number
}

export type ListLength = {
  /** The id of the checkpoint. */
  readonly id: string
  /** Null if its state has no such list, or is lost. */
  readonly length: number | null
  /** Present if the store has lost a part of its state. */
  readonly damaged?: true
}

export const listAt = sessionOperation({
  name: 'listAt',
  summary: 'Read a part of a list of a state',
  effect: 'reads',
  input: () =>
    z.strictObject({
      key: z.string(),
      ref: z.optional(z.string()),
      from: z.int().check(z.minimum(0)),
      limit: z.int().check(z.positive()),
    }),
  async run(context, { key, ref, from, limit }): Promise<StoredSlice | undefined> {
    const checkpoint =
      ref === undefined ? readHead(context) : resolveInSession(context, context.lease.key, ref)
    const state = checkpoint?.session?.state ?? null
    if (checkpoint === undefined || state === null) return undefined
    return expectState(context, checkpoint, () =>
      context.ledger.states.slice(state, { key, from, limit }),
    )
  },
})

export const listLengths = sessionOperation({
  name: 'listLengths',
  summary: 'Read the length of a list of the state at every checkpoint',
  effect: 'reads',
  input: () => z.strictObject({ key: z.string() }),
  async run({ ledger, lease }, { key }): Promise<readonly ListLength[]> {
    const marks = ledger.marks.damaged()
    // A repair removes the reference to a lost state and leaves a mark.
    const isLost = (id: string) => {
      const mark = marks.get(id)
      return mark !== undefined && parseDamage(mark).state !== null
    }
    return ledger.states
      .listLengths(lease.key, key)
      .map((each) => (isLost(each.id) ? { ...each, damaged: true } : each))
  },
})

function readHead(context: SessionContext): Checkpoint | undefined {
  const { head } = readSession(context)
  return head === null ? undefined : context.ledger.checkpoints.get(head)
}
