// Repeats a call of a remote that did not answer. Every call may be repeated: a remote recognizes what it has done already.
import { setTimeout as sleep } from 'node:timers/promises'
import { SavestateError } from '../../model/index.js'

/** How long a call of mode wait tries to reach the remote. */
export const RETRY_MS = 10_000
const FIRST_DELAY_MS = 50
const MAX_DELAY_MS = 1000

/** Throws the last error. Starts no further attempt after `forMs`. */
export async function withRetries<Result>(
  attempt: () => Promise<Result>,
  { forMs = RETRY_MS }: { readonly forMs?: number } = {},
): Promise<Result> {
  const startMs = performance.now()
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    try {
      return await attempt()
    } catch (error) {
      if (!isUnreachable(error) || performance.now() + delayMs - startMs > forMs) throw error
    }
    await sleep(delayMs)
  }
}

export function isUnreachable(error: unknown): boolean {
  return error instanceof SavestateError && error.code === 'REMOTE_UNREACHABLE'
}
