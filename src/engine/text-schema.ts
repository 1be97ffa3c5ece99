// In a file of its own, because our published types must not need zod's.
import * as z from 'zod/mini'
import { isWholeText } from '../model/index.js'

/** A text that the ledger keeps, or is asked for. */
export const wholeText = () =>
  z.string().check(z.refine(isWholeText, 'must be valid Unicode without NUL'))
