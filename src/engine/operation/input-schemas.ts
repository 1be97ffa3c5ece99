// Input schemas that several operations share. They have their own file because our published types must not need zod's.
import * as z from 'zod/mini'
import { isStorableText } from '../../model/index.js'

/** Text that the ledger stores or searches for. */
export const wholeText = () =>
  z.string().check(z.refine(isStorableText, 'must be valid Unicode without NUL'))

const word = () => z.enum(['in_progress', 'completed', 'failed', 'halted'])

export const statusInput = () =>
  z.union([word(), z.strictObject({ state: word(), reason: z.optional(wholeText()) })])

export const eventInput = () =>
  z.strictObject({
    type: z.literal('event'),
    who: z.string(),
    session: z.string(),
    agentId: z.optional(z.string()),
    begins: z.optional(z.string()),
    ends: z.optional(z.string()),
    over: z.optional(z.enum(['session', 'agent'])),
  })
