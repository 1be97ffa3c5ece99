// Long work on the ledger is done in short transactions, with a pause after each.
import { setImmediate as turn, setTimeout as sleep } from 'node:timers/promises'

/**
 * Pauses for as long as the slice took that began at `startMs` (of `performance.now()`). The event loop runs meanwhile, and
 * the writers of other processes, which poll for the lock, get about half of the time: a shorter pause would mostly be
 * over before one of them looks.
 */
export async function giveWay(startMs: number): Promise<void> {
  await sleep(performance.now() - startMs)
}

/** Lets timers and input of this process have their turn, for work that keeps no other process waiting. */
export async function eventLoopTurn(): Promise<void> {
  await turn()
}
