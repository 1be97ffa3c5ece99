// The clock and the random source, passed as a parameter so that tests can fix both.
import { randomBytes } from 'node:crypto'

export type Clock = { readonly nowMs: () => number; readonly random: (bytes: number) => Uint8Array }

export const systemClock: Clock = { nowMs: () => Date.now(), random: (bytes) => randomBytes(bytes) }
