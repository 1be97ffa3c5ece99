// The work that the daemon does for its callers. None of it removes or overwrites anything in a project: a caller in a sandbox
// can reach the socket, so the daemon must not do what the sandbox forbids.
import { type HookRequest, IdleSessions } from '../../agents/index.js'
import { AGENT_NAMES } from '../../base/index.js'
import type { CallOptions, SaveResult, Store } from '../../internal.js'
import type { DaemonRequest, HookAnswer, SaveAnswer, SaveRequest } from '../requests.js'
import { saveProject } from '../save-project.js'
import { answerHook, PATIENCE_SECONDS } from '../answer-hook.js'
import { expectFolder, type SaveCall } from './save-body.js'
import type { WatchedProjects } from './watched-projects.js'

/** Does the work and returns the answer. */
export type Work = (input: string, hooks: Pick<CallOptions, 'onProgress'>) => Promise<object>

export type HttpHookCall = {
  /** As in the URL; not checked yet. */
  readonly agent: string
  readonly eventName: string
  /** Undefined if it was too large. */
  readonly input: string | undefined
}

export class Handlers {
  readonly #store: Store
  readonly #projects: WatchedProjects
  readonly #quiet: IdleSessions

  constructor(store: Store, projects: WatchedProjects) {
    this.#store = store
    this.#projects = projects
    this.#quiet = new IdleSessions(store)
  }

  /** Undefined if the caller has to do the work. */
  workFor(request: DaemonRequest): Work | undefined {
    if (request.do === 'save') return (_input, hooks) => this.#save(request, hooks)
    const { agent: name, eventName, strict, folder } = request
    const agent = AGENT_NAMES.find((one) => one === name)
    if (agent === undefined) return undefined
    return (input) => this.#answer({ agent, eventName, strict, cwd: folder }, input)
  }

  /** The text that a command hook would print on stdout. Undefined for an unknown agent. */
  async hookOverHttp({ agent: name, eventName, input }: HttpHookCall): Promise<string | undefined> {
    const agent = AGENT_NAMES.find((one) => one === name)
    if (agent === undefined) return undefined
    // HTTP has no stderr. Failures are also in the status of the store.
    return (await this.#answer({ agent, eventName }, input)).stdout
  }

  async saveOverHttp({ path, input }: SaveCall): Promise<SaveResult> {
    expectFolder(path)
    return this.#projects.watch(await this.#store.projectFor(path)).save(input)
  }

  /** Saves sessions that have sent no events for a while; undefined if there are none. */
  quietWork(): (() => Promise<void>) | undefined {
    return this.#quiet.dueCheck()
  }

  async #save(
    { folder, input }: SaveRequest,
    { onProgress }: Pick<CallOptions, 'onProgress'>,
  ): Promise<SaveAnswer> {
    const notices: string[] = []
    const hooks: CallOptions = { onProgress, onWarning: (text) => void notices.push(text) }
    const project = await this.#store.projectFor(folder, hooks)
    const origin = await project.origin()
    const watched = this.#projects.watch(project)
    const saved = await saveProject(watched, { store: this.#store, input, hooks })
    return { ...saved, origin, notices }
  }

  async #answer(
    hook: Omit<HookRequest, 'payload' | 'onProject'>,
    input: string | undefined,
  ): Promise<HookAnswer> {
    const { answer } = await answerHook({
      hook: {
        ...hook,
        onProject: (project, event) =>
          this.#quiet.recordEvent(this.#projects.watch(project), event),
      },
      patienceSeconds: PATIENCE_SECONDS,
      input: async () => input,
      store: async () => this.#store,
    })
    const { stdout, stderr, exitCode } = answer
    return { stdout, stderr, exitCode }
  }
}
