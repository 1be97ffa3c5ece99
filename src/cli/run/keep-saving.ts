// Saves while a command runs. Failures are collected for the end and never disturb the command.
import { setTimeout as sleep } from 'node:timers/promises'
import { autoSave, type CallOptions, type Project, type SaveResult } from '../../index.js'

export type Saved = {
  readonly checkpoints: number
  /** The newest checkpoint; undefined if nothing changed. */
  readonly last: SaveResult | undefined
  readonly failures: readonly unknown[]
  /** Whether the final state of the folder is saved. */
  readonly isComplete: boolean
}

const AGAIN_MS = 5000

/** Ends after the signal, with a last save. Collects the errors of saves instead of throwing them. */
export async function keepSaving(
  project: Project,
  options: {
    readonly ended: AbortSignal
    readonly reason: string
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
        // The folder was saved before the command started; a save now could capture half of its work.
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
