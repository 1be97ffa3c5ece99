// The end of a call that no event tells of: the agent was killed, its command outlives it, or it sends no such event.
// Whoever watches the folder takes the checkpoint when that has changed and fallen quiet, and does not wait for the
// next event, which may never come.
import type { Project, Store } from '../../index.js'
import type { AgentEvent } from '../mappers/event.js'
import { saveAtQuiet } from './handle-hook.js'

/** Shorter pauses are those of a command at work. */
const QUIET_MS = 3000
const FORGET_MS = 10 * 60_000

type Waiting = {
  readonly project: Project
  readonly event: Extract<AgentEvent, { type: 'quiet' }>
  readonly heardAtMs: number
  /** Longer after each checkpoint, so that a command that goes on for ever does not fill the list. */
  readonly quietMs: number
}

export class QuietMoments {
  readonly #store: Store
  readonly #sessions = new Map<string, Waiting>()
  /** Those that are being checked: a save can take longer than the time to the next check. */
  readonly #looked = new Set<string>()

  constructor(store: Store) {
    this.#store = store
  }

  /** An event of the session was handled. */
  heard(project: Project, event: AgentEvent): void {
    const key = keyOf(project, event)
    if (event.type === 'session-end') this.#sessions.delete(key)
    else
      this.#sessions.set(key, {
        project,
        event: quietEvent(event),
        heardAtMs: performance.now(),
        quietMs: QUIET_MS,
      })
  }

  /** What there is to look at; undefined if nothing is waited for. */
  due(): (() => Promise<void>) | undefined {
    const now = performance.now()
    for (const [key, { heardAtMs }] of this.#sessions)
      if (now - heardAtMs > FORGET_MS) this.#sessions.delete(key)
    const silent = [...this.#sessions].filter(
      ([key, { heardAtMs, quietMs }]) => now - heardAtMs >= quietMs && !this.#looked.has(key),
    )
    if (silent.length === 0) return undefined
    return async () => {
      for (const [key] of silent) this.#looked.add(key)
      try {
        for (const [key, waiting] of silent) await this.#look(key, waiting)
      } finally {
        // Those too whose turn did not come, because one before failed.
        for (const [key] of silent) this.#looked.delete(key)
      }
    }
  }

  async #look(key: string, waiting: Waiting): Promise<void> {
    const { project, event, quietMs } = waiting
    const activity = await project.activity()
    const isQuiet = activity !== undefined && activity.isTouched && activity.quietMs >= quietMs
    if (!isQuiet) return
    const isSaved = await saveAtQuiet(this.#store, event)
    // It was heard of meanwhile.
    if (this.#sessions.get(key) !== waiting) return
    // What is not the agent's is nothing to look at again before its next event.
    if (isSaved) this.#sessions.set(key, { ...waiting, quietMs: quietMs * 2 })
    else this.#sessions.delete(key)
  }
}

function keyOf(project: Project, { agent, sessionId }: AgentEvent): string {
  return JSON.stringify([agent, sessionId, project.path])
}

function quietEvent(event: AgentEvent): Waiting['event'] {
  const { agent, sessionId, turnId, agentId, cwd, transcriptPath } = event
  const facts = { agent, sessionId, turnId, agentId, cwd, transcriptPath }
  return { ...facts, type: 'quiet', eventName: 'quiet', rest: {} }
}
