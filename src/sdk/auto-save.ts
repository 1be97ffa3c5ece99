// Saves a watched project whenever it falls quiet: for `savestate watch`, and for agents that tell us nothing.
import type { Hooks, SaveResult } from '../engine/index.js'
import type { Project } from './project.js'

export type AutoSaveOptions = {
  /** Ends it: what is not saved yet is saved then. */
  readonly signal: AbortSignal
  /** How long nothing must have happened; default 1 second. */
  readonly quietMs?: number
  /** After this time a project that never falls quiet is saved all the same; default 1 minute. */
  readonly patienceMs?: number
  readonly reason?: string
  /** Who changes the folder meanwhile, if it is not the person. */
  readonly author?: string
  /** The project was saved under watch just now, so there is nothing to save at the beginning. */
  readonly isSaved?: boolean
  /** Called for every checkpoint that was made. */
  readonly onSaved?: (saved: SaveResult) => void
  readonly hooks?: Hooks
}

const LOOK_MS = 150
const QUIET_MS = 1000
const PATIENCE_MS = 60_000
/** How often a project is looked at whose events the system does not tell. */
const BLIND_MS = 30_000

/** Returns when the signal has come and everything is saved. Throws what a save throws. */
export async function autoSave(project: Project, options: AutoSaveOptions): Promise<void> {
  const { signal, quietMs = QUIET_MS, patienceMs = PATIENCE_MS, reason, author, hooks } = options
  const facts = {
    ...(reason === undefined ? {} : { reason }),
    ...(author === undefined ? {} : { author }),
  }
  const save = async () => {
    const saved = await project.save(facts, hooks)
    if (saved.created) options.onSaved?.(saved)
  }
  project.watch()
  if (options.isSaved !== true) await save()
  let savedAtMs = performance.now()
  let touchedAtMs: number | undefined
  while (!signal.aborted) {
    await pause(LOOK_MS, signal)
    const activity = await project.activity()
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

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, ms)
    signal.addEventListener('abort', end)
  })
}
