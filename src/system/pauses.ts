// Pauses in long work that runs as short transactions.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

/**
 * Sleeps as long as the slice took that started at `startMs` (`performance.now()`). Writers in other processes poll for the
 * lock and then get it about half of the time; a shorter pause would mostly end before their next poll.
 */
export async function pauseForWriters(startMs: number): Promise<void> {
  await sleep(performance.now() - startMs)
}

/** Lets timers and I/O of this process run, for work that blocks no other process. */
export async function yieldToEventLoop(): Promise<void> {
  await turn()
}
