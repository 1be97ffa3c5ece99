// Time and chance, handed to whoever needs them so that tests can fix them.
import { randomBytes } from 'node:crypto'

export type Clock = { readonly nowMs: () => number; readonly random: (bytes: number) => Uint8Array }

export const systemClock: Clock = { nowMs: () => Date.now(), random: (bytes) => randomBytes(bytes) }
