// Saves a watched project whenever it is idle: for `savestate watch`, and for agents without hooks.
import { setTimeout } from 'node:timers/promises'
import type { SaveResult } from '../engine/index.js'
import type { CallOptions } from './call-options.js'
import type { Project } from './project.js'

/** Options of `autoSave`. */
export type AutoSaveOptions = Omit<CallOptions, 'signal'> & {
  /** Ends the auto-save after a last save. */
  readonly signal: AbortSignal
  /** How long nothing must have happened before a save; default 1 second. */
  readonly quietMs?: number
  /** A project that is never idle is saved after this time; default 1 minute. */
  readonly patienceMs?: number
  readonly reason?: string
  /** The author of the changes meanwhile, if it is not the user. */
  readonly author?: string
  /** The project was saved just now, so the first save is left out. */
  readonly isSaved?: boolean
  /** Called for every checkpoint that was added. */
  readonly onSaved?: (saved: SaveResult) => void
}

const POLL_MS = 150
const QUIET_MS = 1000
const PATIENCE_MS = 60_000
/** How often a project is saved if the system reports no events for it. */
const BLIND_MS = 30_000

/** Watches a project and saves it whenever it is idle. Returns after the signal and a last save. Throws what a save throws. */
export async function autoSave(project: Project, options: AutoSaveOptions): Promise<void> {
  const { signal, quietMs = QUIET_MS, patienceMs = PATIENCE_MS, reason, author } = options
  const { onProgress, onWarning } = options
  const saveOptions = {
    onProgress,
    onWarning,
    ...(reason === undefined ? {} : { reason }),
    ...(author === undefined ? {} : { author }),
  }
  const save = async () => {
    const saved = await project.save(saveOptions)
    if (saved.created) options.onSaved?.(saved)
  }
  project.watch()
  if (options.isSaved !== true) await save()
  let savedAtMs = performance.now()
  let touchedAtMs: number | undefined
  while (!signal.aborted) {
    await setTimeout(POLL_MS, undefined, { signal }).catch((error: unknown) => {
      // An abort ends the pause, and then the loop.
      if (!signal.aborted) throw error
    })
    const activity = await project.internals.activity()
    const now = performance.now()
    if (activity === undefined || !activity.isWatching) {
      if (now - savedAtMs < BLIND_MS) continue
    } else {
      if (!activity.isTouched) {
        touchedAtMs = undefined
        continue
      }
      touchedAtMs ??= now
      if (activity.quietMs < quietMs && now - touchedAtMs < patienceMs) continue
    }
    await save()
    savedAtMs = performance.now()
    touchedAtMs = undefined
  }
  await save()
}
