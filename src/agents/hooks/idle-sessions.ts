// Saves sessions whose calls end without an event: the agent was killed, its command outlives it, or it sends no such event.
// The daemon saves when the folder has changed and then been idle for a while, because the next event may never come.
import type { Project, Store } from '../../index.js'
import type { AgentEvent } from '../mappers/event.js'
import { saveIdleSession } from './handle-hook.js'

/** A running command may pause for less. */
const QUIET_MS = 3000
const FORGET_MS = 10 * 60_000

type Waiting = {
  readonly project: Project
  readonly event: Extract<AgentEvent, { type: 'quiet' }>
  readonly lastEventAtMs: number
  /** Doubles after each checkpoint, so that a command that never ends does not fill the list. */
  readonly quietMs: number
}

export class IdleSessions {
  readonly #store: Store
  readonly #sessions = new Map<string, Waiting>()
  /** Sessions being checked: a save can take longer than the time to the next check. */
  readonly #checking = new Set<string>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Call this for every event of a session. */
  recordEvent(project: Project, event: AgentEvent): void {
    const key = keyOf(project, event)
    if (event.type === 'session-end') this.#sessions.delete(key)
    else
      this.#sessions.set(key, {
        project,
        event: quietEvent(event),
        lastEventAtMs: performance.now(),
        quietMs: QUIET_MS,
      })
  }

  /** The check to run now; undefined if no session is due. */
  dueCheck(): (() => Promise<void>) | undefined {
    const now = performance.now()
    for (const [key, { lastEventAtMs }] of this.#sessions)
      if (now - lastEventAtMs > FORGET_MS) this.#sessions.delete(key)
    const silent = [...this.#sessions].filter(
      ([key, { lastEventAtMs, quietMs }]) =>
        now - lastEventAtMs >= quietMs && !this.#checking.has(key),
    )
    if (silent.length === 0) return undefined
    return async () => {
      for (const [key] of silent) this.#checking.add(key)
      try {
        for (const [key, waiting] of silent) await this.#check(key, waiting)
      } finally {
        for (const [key] of silent) this.#checking.delete(key)
      }
    }
  }

  async #check(key: string, waiting: Waiting): Promise<void> {
    const { project, event, quietMs } = waiting
    const activity = await project.internals.activity()
    const isQuiet = activity !== undefined && activity.isTouched && activity.quietMs >= quietMs
    if (!isQuiet) return
    const isSaved = await saveIdleSession(this.#store, event)
    // The session has sent an event meanwhile.
    if (this.#sessions.get(key) !== waiting) return
    // Nothing to save means that the change was not the agent's: wait for its next event.
    if (isSaved) this.#sessions.set(key, { ...waiting, quietMs: quietMs * 2 })
    else this.#sessions.delete(key)
  }
}

function keyOf(project: Project, { agent, sessionId }: AgentEvent): string {
  return JSON.stringify([agent, sessionId, project.path])
}

function quietEvent(event: AgentEvent): Waiting['event'] {
  const { agent, sessionId, turnId, agentId, cwd, transcriptPath } = event
  const fields = { agent, sessionId, turnId, agentId, cwd, transcriptPath }
  return { ...fields, type: 'quiet', eventName: 'quiet', rest: {} }
}
