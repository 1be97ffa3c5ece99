// The work that the daemon does for its callers. None of it removes or overwrites anything in a project: a caller in a sandbox
// can reach the socket, so the daemon must not do what the sandbox forbids.
import { type HookRequest, IdleSessions, isTypedCommand } from '../../agents/index.js'
import { AGENT_NAMES } from '../../base/index.js'
import type { CallOptions, Store } from '../../internal.js'
import { type DaemonRequest, type SaveAnswer, saveProject, type SaveRequest } from '../requests.js'
import { answerHook, PATIENCE_SECONDS } from '../answer-hook.js'
import type { WatchedProjects } from './watched-projects.js'

/** Does the work and returns the answer. */
export type Work = (input: string, hooks: Pick<CallOptions, 'onProgress'>) => Promise<object>

type HookAnswer = { readonly stdout: string; readonly stderr: string; readonly exitCode: number }

export class Handlers {
  readonly #store: Store
  readonly #projects: WatchedProjects
  readonly #quiet: IdleSessions
  readonly #onTurnEnd: () => void

  /** `onTurnEnd` is called after the hook was answered. */
  constructor(
    store: Store,
    projects: WatchedProjects,
    { onTurnEnd }: { readonly onTurnEnd: () => void },
  ) {
    this.#store = store
    this.#projects = projects
    this.#onTurnEnd = onTurnEnd
    this.#quiet = new IdleSessions(store)
  }

  /** Undefined if the caller has to do the work. */
  workFor(request: DaemonRequest): Work | undefined {
    if (request.do === 'save') return (_input, hooks) => this.save(request, hooks)
    const { folder: cwd, agent, eventName, strict } = request
    const hook = this.hookFor(agent, { eventName, strict, cwd })
    if (hook === undefined) return undefined
    // A command that the user typed as a prompt may change files, so the caller runs it: it is the agent's own hook.
    return async (input) => (isTypedCommand(agent, { eventName, input }) ? {} : hook(input))
  }

  /** Saves sessions that have sent no events for a while; undefined if there are none. */
  quietWork(): (() => Promise<void>) | undefined {
    return this.#quiet.dueCheck()
  }

  async save(
    { folder, input }: SaveRequest,
    { onProgress }: Pick<CallOptions, 'onProgress'> = {},
  ): Promise<SaveAnswer> {
    const notices: string[] = []
    const hooks: CallOptions = { onProgress, onWarning: (text) => void notices.push(text) }
    const project = await this.#store.projectFor(folder, hooks)
    const origin = await project.internals.origin()
    const watched = this.#projects.watch(project)
    const saved = await saveProject(watched, { store: this.#store, input, hooks })
    return { ...saved, origin, notices }
  }

  /** Undefined for an unknown agent. The input is undefined if it was too large. */
  hookFor(
    name: string,
    event: Pick<HookRequest, 'eventName' | 'strict' | 'cwd'>,
  ): ((input: string | undefined) => Promise<HookAnswer>) | undefined {
    const agent = AGENT_NAMES.find((one) => one === name)
    if (agent === undefined) return undefined
    return async (input) => {
      let isTurnEnd = false
      const onProject: HookRequest['onProject'] = (project, about) => {
        isTurnEnd = about.type === 'turn-end' || about.type === 'session-end'
        this.#quiet.recordEvent(this.#projects.watch(project), about)
      }
      const { answer } = await answerHook({
        hook: { agent, ...event, onProject },
        patienceSeconds: PATIENCE_SECONDS,
        input: async () => input,
        store: async () => this.#store,
      })
      if (isTurnEnd) this.#onTurnEnd()
      const { stdout, stderr, exitCode } = answer
      return { stdout, stderr, exitCode }
    }
  }
}
