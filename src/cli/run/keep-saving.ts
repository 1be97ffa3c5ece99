// Saves while a command runs. What goes wrong is kept for the end: the command is never disturbed by it.
import { setTimeout as sleep } from 'node:timers/promises'
import { autoSave, type CallOptions, type Project, type SaveResult } from '../../index.js'

export type Saved = {
  /** How many checkpoints were made. */
  readonly checkpoints: number
  /** The newest that was made; undefined if nothing changed. */
  readonly last: SaveResult | undefined
  readonly failures: readonly unknown[]
  /** Whether what the command left is saved. */
  readonly isComplete: boolean
}

const AGAIN_MS = 5000

/** Ends after the signal, with a last save. Throws nothing that a save throws. */
export async function keepSaving(
  project: Project,
  options: {
    readonly ended: AbortSignal
    readonly reason: string
    /** The command. */
    readonly author: string
    readonly quietMs?: number | undefined
    readonly hooks: Omit<CallOptions, 'signal'>
  },
): Promise<Saved> {
  const { ended, reason, author, quietMs, hooks } = options
  let last: SaveResult | undefined
  let checkpoints = 0
  const failures: unknown[] = []
  for (;;) {
    const isLastTry = ended.aborted
    try {
      await autoSave(project, {
        signal: ended,
        reason,
        author,
        // As the command found it; anything now could be half of what it does.
        isSaved: failures.length === 0,
        ...hooks,
        ...(quietMs === undefined ? {} : { quietMs }),
        onSaved(saved) {
          last = saved
          checkpoints += 1
        },
      })
      return { checkpoints, last, failures, isComplete: true }
    } catch (error) {
      failures.push(error)
      if (isLastTry) return { checkpoints, last, failures, isComplete: false }
      await pause(ended)
    }
  }
}

async function pause(ended: AbortSignal): Promise<void> {
  await sleep(AGAIN_MS, undefined, { signal: ended }).catch((error: unknown) => {
    if (!ended.aborted) throw error
  })
}
