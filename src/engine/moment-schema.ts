// In a file of its own, because our published types must not need zod's.
import * as z from 'zod/mini'

export const momentInput = () =>
  z.strictObject({
    type: z.literal('event'),
    who: z.string(),
    session: z.string(),
    agentId: z.optional(z.string()),
    begins: z.optional(z.string()),
    ends: z.optional(z.string()),
    over: z.optional(z.enum(['session', 'agent'])),
  })
