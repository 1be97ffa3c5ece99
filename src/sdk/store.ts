// Everything Savestate keeps, open.
import * as engine from '../engine/index.js'
import type { Hooks } from '../engine/index.js'
import {
  type BytePath,
  bytePath,
  type Config,
  explainSystemError,
  printablePath,
  type PruneOptions,
} from '../model/index.js'
import { refuseUnsafeFolder } from '../snapshot/index.js'
import type { AgentState } from './agent-state.js'
import { AutoPrune } from './maintenance/auto-prune.js'
import { explained } from './opening/with-system-errors.js'
import { expectObject, refuseUnknown } from './opening/validate-options.js'
import { type OpenContext, openContext, type StoreOptions } from './opening/open-context.js'
import { Maintenance } from './maintenance/store-maintenance.js'
import { Project } from './project.js'
import { Session } from './session.js'
import {
  type ImportCheckpointsInput,
  type ResumedSession,
  SESSION_OPTIONS,
  type SessionOptions,
  type SessionsInput,
} from './store-types.js'
import { Threads } from './threads.js'

/** Opens the store, and creates it if there is none. Throws STORE_NEWER, STORE_UNUSABLE, STORE_DAMAGED. */
export async function openStore(options: StoreOptions = {}): Promise<Store> {
  try {
    return new Store(await openContext(options), {
      // A program that does one thing and ends leaves the tidying to one that stays.
      isShort: options.mayBlock ?? false,
      // Another process would judge by another time.
      prunesItself: options.clock === undefined,
    })
  } catch (error) {
    throw explainSystemError(error)
  }
}

/** An open store: all projects and sessions of one user. Made by `openStore`. */
export class Store {
  readonly #context: OpenContext
  readonly #sessions = new Set<{ close(): Promise<void> }>()
  readonly #threads: Threads
  readonly #isShort: boolean
  #closing: Promise<void> | undefined
  readonly #autoPrune: AutoPrune | undefined

  /** Use `openStore`. */
  constructor(
    context: OpenContext,
    { isShort, prunesItself }: { readonly isShort: boolean; readonly prunesItself: boolean },
  ) {
    this.#context = context
    this.#isShort = isShort
    this.#threads = new Threads(context)
    this.#autoPrune = prunesItself ? new AutoPrune(context) : undefined
  }

  /** For the adapters of graph frameworks. @internal */
  get threads(): Threads {
    return this.#threads
  }

  /** The settings of the store, and what it did by itself. */
  get maintenance(): Maintenance {
    return new Maintenance(this.#context)
  }

  get home(): string {
    return this.#context.home
  }

  /** The settings of the store as a whole, as they are now. */
  get settings(): Config {
    return engine.storeSettings(this.home).config
  }

  /**
   * The project of exactly this folder, which may be gone if it has checkpoints. Throws PROJECT_REFUSED for `/`, a home
   * and the like. With `watch` it is watched from its next save on, until `unwatch` or `close`: saves then cost what changed, not what is there.
   */
  async project(path: string, options: { readonly watch?: boolean } = {}): Promise<Project> {
    refuseUnknown('project', options, { watch: true })
    const project = this.#projectAt(engine.projectFolder(this.#context, path))
    if (options.watch === true) project.watch()
    return project
  }

  /**
   * The project that a file or folder belongs to: the nearest folder at or above that was saved before or is a repository.
   * A package (`package.json` and the like) is a project of its own unless a saved project above captures it.
   */
  async projectFor(path: string, hooks?: Hooks): Promise<Project> {
    this.#context.calls.refuseClosed()
    const { root, part } = engine.projectRootOf(this.#context, path)
    if (part !== undefined)
      hooks?.onNotice?.(`${printablePath(part)} is saved as part of ${printablePath(root)}.`)
    return this.#projectAt(root)
  }

  /** One agent's task: made, or opened for writing. Throws SESSION_BUSY while another process writes it. */
  async session<State = AgentState>(
    id: string,
    options: SessionOptions = {},
  ): Promise<Session<State>> {
    refuseUnknown('session', options, SESSION_OPTIONS)
    const { project, mustExist, ...facts } = options
    return this.#do(async () =>
      this.#track(
        engine.openSession(this.#context, {
          id,
          ...facts,
          project: project === undefined ? undefined : Project.known(project),
          must: mustExist === true ? 'be known' : undefined,
        }),
      ),
    )
  }

  /** Last used first; `interrupted`: in progress, and no process continues it. */
  async sessions(input: SessionsInput = {}): Promise<engine.SessionsResult['sessions']> {
    const { sessions } = await this.#perform(engine.listSessions, { input })
    return sessions
  }

  /** Goes on where an agent stopped, in this or another process. Throws SESSION_UNKNOWN, SESSION_BUSY. */
  async resume<State = AgentState>(id: string, hooks?: Hooks): Promise<ResumedSession<State>> {
    const { calls } = this.#context
    return this.#do(async () => {
      const resumed = await engine.resumeSession(this.#context, id, calls.hooksOf(hooks))
      const { context, session: info, state, ...rest } = resumed
      return { ...rest, info, state: state as State | undefined, session: this.#track(context) }
    })
  }

  /** A new session that begins at a checkpoint: its id, or a reference within the session `of`. */
  async fork<State = AgentState>(
    ref: string,
    options: { readonly session: string; readonly of?: string; readonly agent?: string },
  ): Promise<Session<State>> {
    refuseUnknown('fork', options, { session: true, of: true, agent: true })
    const { session: id, of, agent } = options
    return this.#do(async () => {
      const from = engine.findCheckpoint(this.#context, ref, of)
      return this.#track(await engine.forkSession(this.#context, from, { id, agent }))
    })
  }

  /** Forgets a session and its checkpoints; how many there were, 0 for one that is not there. */
  async deleteSession(id: string): Promise<number> {
    const { removed } = await this.#do(async () => engine.deleteSession(this.#context, id))
    return removed
  }

  /** The checkpoints of all projects, newest first. */
  async list(input: { limit?: number } = {}, hooks?: Hooks): Promise<engine.ListAllResult> {
    return this.#perform(engine.listAll, { input, hooks })
  }

  /** The shortest prefix of each id that identifies one checkpoint of the store. */
  async shortIds(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#do(async () => engine.shortIds(this.#context, ids))
  }

  async status(hooks?: Hooks): Promise<engine.StatusResult> {
    return this.#perform(engine.status, { input: {}, hooks })
  }

  /** Keeps the store within its limits. `dryRun` only reports what would be removed, and why. */
  async prune(input: PruneOptions = {}, hooks?: Hooks): Promise<engine.PruneResult> {
    expectObject('prune', input)
    const { calls } = this.#context
    if (input.unattended === true)
      return calls.during(() => engine.pruneUnattended(this.#context, { input, hooks }))
    return this.#perform(engine.prune, { input, hooks })
  }

  /**
   * Adds checkpoints that were made elsewhere, with their files, times and origins. Those that were imported before are
   * not added again, and what cannot be read is listed with the reason.
   * @internal
   */
  async importCheckpoints(
    input: ImportCheckpointsInput,
    hooks?: Hooks,
  ): Promise<engine.ImportCheckpointsResult> {
    return this.#perform(engine.importCheckpoints, { input, hooks })
  }

  /** What `session.import` would add to the session of that id, which need not be there. */
  async planImport(id: string, checkpoints: engine.ExchangedItems): Promise<engine.ImportOutlook> {
    return this.#perform(engine.planImport, { input: { session: id, checkpoints } })
  }

  /** `quick`: only the structure. `verifyStore` checks a store that cannot be opened. */
  async verify(
    hooks?: Hooks,
    input: { readonly quick?: boolean } = {},
  ): Promise<engine.VerifyResult> {
    return this.#perform(engine.verify, { input, hooks })
  }

  /**
   * Changes the key to `encryption.newKey`, or to none; with `key` alone it encrypts older values. Blocks the event loop, and
   * no other store of this folder may be open. Throws STORE_BUSY, and KEY_MISSING or KEY_WRONG for a key that it needs.
   */
  async rekey(
    input: { readonly plain?: boolean; readonly dryRun?: boolean } = {},
    hooks?: Hooks,
  ): Promise<engine.RekeyResult> {
    return this.#perform(engine.rekey, { input, hooks })
  }

  /** Whether states and metadata are encrypted. Names, reasons and notes never are. */
  get isEncrypted(): boolean {
    return this.#context.ledger.isEncrypted
  }

  /** The note that a front end stored under this key. @internal */
  async note(key: string): Promise<string | undefined> {
    return this.#do(async () => engine.readNote(this.#context, key))
  }

  /** Changes such a note atomically across processes, and returns it. @internal */
  async changeNote(note: engine.NoteChange): Promise<string | undefined> {
    return this.#do(async () => engine.changeNote(this.#context, note))
  }

  /** Records the failure of unattended work, which `status` then reports. @internal */
  async recordFailure(failure: engine.FailureFacts): Promise<void> {
    return this.#do(async () => engine.recordFailure(this.#context, failure))
  }

  /**
   * Waits for what is under way; the store can be opened again. A tool that is running is not waited for: its end is not
   * noted any more.
   */
  async close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async #close(): Promise<void> {
    await this.#context.calls.close()
    try {
      for (const session of this.#sessions) await session.close()
      await explained(() => this.#context.snapshots.close())
      this.#autoPrune?.close()
    } finally {
      this.#context.objects.close()
      this.#context.ledger.close({ tidy: !this.#isShort })
      this.#context.use.close()
    }
  }

  #perform<Result>(
    operation:
      | engine.OperationOf<engine.StoreContext, unknown, Result>
      | engine.Later<engine.StoreContext, Result>,
    { input, hooks }: { readonly input: unknown; readonly hooks?: Hooks | undefined },
  ): Promise<Result> {
    const { calls } = this.#context
    return calls.during(() =>
      engine.perform(operation, this.#context, { input, hooks: calls.hooksOf(hooks) }),
    )
  }

  /** The same for what is no operation. */
  #do<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#context.calls.during(() => explained(work))
  }

  #track<State>(context: engine.SessionContext): Session<State> {
    const { calls } = this.#context
    const onClose = () => this.#sessions.delete(session)
    const session: Session<State> = new Session(context, { calls, onClose })
    this.#sessions.add(session)
    return session
  }

  #projectAt(path: BytePath): Project {
    // Before a thread is started for it.
    this.#context.calls.refuseClosed()
    refuseUnsafeFolder(path, bytePath(this.#context.home))
    this.#context.snapshots.warmUp()
    return new Project({ ...this.#context, path })
  }
}
