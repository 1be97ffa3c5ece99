// In a file of its own, because our published types must not need zod's.
import * as z from 'zod/mini'
import { wholeText } from './text-schema.js'

const word = () => z.enum(['in_progress', 'completed', 'failed', 'halted'])

export const statusInput = () =>
  z.union([word(), z.strictObject({ state: word(), reason: z.optional(wholeText()) })])
