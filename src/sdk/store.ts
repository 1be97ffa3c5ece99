// Everything Savestate keeps, open.
import { homedir } from 'node:os'
import { join } from 'node:path'
import * as engine from '../engine/index.js'
import type { Hooks, StoreContext } from '../engine/index.js'
import { Ledger } from '../ledger/index.js'
import {
  type BytePath,
  bytePath,
  type ClassRegistry,
  DEFAULT_LIMITS,
  type Durability,
  explainSystemError,
  type Limits,
  type StatusWord,
} from '../model/index.js'
import { isUnsafeFolder, refuseUnsafeFolder, Snapshots } from '../snapshot/index.js'
import { type Clock, SharedLock, systemClock } from '../system/index.js'
import type { AgentState } from './agent-state.js'
import { Project } from './project.js'
import { explained, Session } from './session.js'
import { Threads } from './threads.js'

export type StoreOptions = {
  /** Where the store is; default: $SAVESTATE_HOME, else ~/.savestate. */
  readonly home?: string
  /** `fsync` (default) survives a power cut, `os` a killed process. */
  readonly durability?: Durability
  readonly limits?: Partial<Limits>
  /** The caller has nothing else to do while it waits: no thread is started to keep its event loop free. */
  readonly mayBlock?: boolean
  /** Classes whose instances may stand in states, and how they are kept. */
  readonly classes?: ClassRegistry
  /** For tests. */
  readonly clock?: Clock
}

export type SessionOptions = {
  /** The name of the agent, for people. */
  readonly agent?: string
  /** The folder it works in; needed to save files. */
  readonly project?: Project
  readonly metadata?: unknown
  /** False: no lease. For a caller that is not the only writer of the session and orders its writes itself. */
  readonly lease?: boolean
  /** Throws SESSION_UNKNOWN instead of making a session. */
  readonly mustExist?: boolean
}

export type ResumedSession<State> = Omit<engine.Resumed, 'context' | 'session' | 'state'> & {
  /** Open for writing: the right of a dead process has been taken over. */
  readonly session: Session<State>
  readonly info: engine.SessionView
  readonly state: State | undefined
}

export async function openStore(options: StoreOptions = {}): Promise<Store> {
  try {
    // A program that does one thing and ends leaves the tidying to one that stays.
    return new Store(await openContext(options), { isShort: options.mayBlock ?? false })
  } catch (error) {
    throw explainSystemError(error)
  }
}

async function openContext(options: StoreOptions): Promise<StoreContext> {
  const home = engine.openHome(
    options.home ?? process.env['SAVESTATE_HOME'] ?? join(homedir(), '.savestate'),
  )
  const durability = options.durability ?? 'fsync'
  const limits = { ...DEFAULT_LIMITS, ...options.limits }
  const mayBlock = options.mayBlock ?? false
  const snapshots = new Snapshots({ home, durability, limits, mayBlock })
  if (!mayBlock) snapshots.warmUp()
  try {
    const ledger = Ledger.open(home, { durability, classes: options.classes })
    await snapshots.prepare()
    const objects = new SharedLock(engine.objectsLockPath(home))
    return { home, ledger, snapshots, objects, clock: options.clock ?? systemClock }
  } catch (error) {
    await snapshots.close()
    throw error
  }
}

export class Store {
  readonly #context: StoreContext
  readonly #sessions = new Set<{ close(): Promise<void> }>()
  readonly #threads: Threads
  readonly #isShort: boolean

  /** Use `openStore`. */
  constructor(context: StoreContext, { isShort }: { readonly isShort: boolean }) {
    this.#context = context
    this.#isShort = isShort
    this.#threads = new Threads(context)
  }

  /** For the adapters of graph frameworks. */
  get threads(): Threads {
    return this.#threads
  }

  get home(): string {
    return this.#context.home
  }

  /** The project of exactly this folder. Throws PROJECT_REFUSED for `/`, a home and the like. */
  async project(path: string): Promise<Project> {
    return this.#projectAt(engine.realFolder(path))
  }

  /** The project that a file or folder belongs to. */
  async projectFor(path: string): Promise<Project> {
    const { ledger, home } = this.#context
    const root = engine.findProjectRoot(path, {
      known: (folder) => ledger.projectAt(folder) !== undefined,
      refused: (folder) => isUnsafeFolder(folder, bytePath(home)),
    })
    return this.#projectAt(root)
  }

  /** One agent's task: made, or opened for writing. Throws SESSION_BUSY while another process writes it. */
  async session<State = AgentState>(
    id: string,
    { project, mustExist, ...options }: SessionOptions = {},
  ): Promise<Session<State>> {
    return this.#opened(() =>
      engine.openSession(this.#context, {
        id,
        ...options,
        project: project === undefined ? undefined : Project.known(project),
        must: mustExist === true ? 'be known' : undefined,
      }),
    )
  }

  /** Last touched first; `interrupted`: going on, with nobody who goes on. */
  async sessions(
    input: {
      readonly status?: StatusWord
      readonly interrupted?: boolean
      readonly limit?: number
    } = {},
  ): Promise<engine.SessionsResult['sessions']> {
    const { sessions } = await engine.perform(engine.listSessions, this.#context, { input })
    return sessions
  }

  /** Goes on where an agent stopped, in this or another process. Throws SESSION_UNKNOWN, SESSION_BUSY. */
  async resume<State = AgentState>(id: string, hooks?: Hooks): Promise<ResumedSession<State>> {
    const resumed = await explained(() => engine.resumeSession(this.#context, id, hooks))
    const { context, session: info, state, ...rest } = resumed
    return { ...rest, info, state: state as State | undefined, session: this.#track(context) }
  }

  /** A new session that begins at a checkpoint: its id, or a reference within the session `of`. */
  async fork<State = AgentState>(
    ref: string,
    options: { readonly session: string; readonly of?: string; readonly agent?: string },
  ): Promise<Session<State>> {
    const { session: id, of, agent } = options
    const from = await explained(async () => engine.findCheckpoint(this.#context, ref, of))
    return this.#opened(() => engine.forkSession(this.#context, from, { id, agent }))
  }

  /** Forgets a session and its checkpoints; how many there were, 0 for one that is not there. */
  async deleteSession(id: string): Promise<number> {
    const { removed } = await explained(async () => engine.deleteSession(this.#context, id))
    return removed
  }

  /** Applies the policy `ages`: sessions untouched for 7 days go, completed ones after 1; pinned ones stay. */
  async retain(input: { readonly dryRun?: boolean } = {}): Promise<engine.RetainResult> {
    return engine.perform(engine.retainAges, this.#context, { input })
  }

  /** The checkpoints of all projects, newest first. */
  async list(
    input: { readonly limit?: number } = {},
    hooks?: Hooks,
  ): Promise<engine.ListAllResult> {
    return engine.perform(engine.listAll, this.#context, { input, hooks })
  }

  async status(hooks?: Hooks): Promise<engine.StatusResult> {
    return engine.perform(engine.status, this.#context, { input: {}, hooks })
  }

  async verify(hooks?: Hooks): Promise<engine.VerifyResult> {
    return engine.perform(engine.verify, this.#context, { input: {}, hooks })
  }

  /** Waits for what is under way; the store can be opened again. */
  async close(): Promise<void> {
    for (const session of this.#sessions) await session.close()
    await this.#context.snapshots.close()
    this.#context.objects.close()
    this.#context.ledger.close({ tidy: !this.#isShort })
  }

  async #opened<State>(
    open: () => engine.SessionContext | Promise<engine.SessionContext>,
  ): Promise<Session<State>> {
    return this.#track(await explained(async () => open()))
  }

  #track<State>(context: engine.SessionContext): Session<State> {
    const session: Session<State> = new Session(context, () => this.#sessions.delete(session))
    this.#sessions.add(session)
    return session
  }

  #projectAt(path: BytePath): Project {
    refuseUnsafeFolder(path, bytePath(this.#context.home))
    const { ledger, snapshots } = this.#context
    if (ledger.projectAt(path) === undefined) snapshots.expectFirstSave()
    return new Project({ ...this.#context, path })
  }
}
