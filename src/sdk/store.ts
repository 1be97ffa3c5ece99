// An open store: all projects and sessions of one user.
import * as engine from '../engine/index.js'
import { type BytePath, bytePath, type Config, printablePath } from '../model/index.js'
import { refuseUnsafeFolder } from '../snapshot/index.js'
import type { AgentState } from './agent-state.js'
import { type CallOptions, splitOptions } from './call-options.js'
import { AutoPrune } from './maintenance/auto-prune.js'
import { refuseUnknown } from './opening/validate-options.js'
import { explained } from './opening/open-calls.js'
import { openContext, type OpenContext, type StoreOptions } from './opening/open-context.js'
import { Maintenance } from './maintenance/store-maintenance.js'
import { watchLedger } from './ledger-changes.js'
import { iteratePages } from './pages.js'
import { OpenSessions } from './open-sessions.js'
import { Project } from './project.js'
import type { ProjectOptions } from './project-types.js'
import { Remotes } from './remotes.js'
import { Session } from './session.js'
import {
  type ForkOptions,
  type ListQuery,
  type PruneOptions,
  type RekeyOptions,
  type ClaimOptions,
  type ResumedSession,
  type ResumeOptions,
  type ScopeQuery,
  type SessionOptions,
  type SessionsQuery,
  type VerifyOptions,
} from './store-types.js'
import { Threads } from './threads.js'

/** Opens the store, and creates it if there is none. Throws STORE_NEWER, STORE_UNUSABLE, STORE_DAMAGED. */
export async function openStore(options: StoreOptions = {}): Promise<Store> {
  return explained(async () => Store.make(await openContext(options), options))
}

type StoreHabits = Pick<StoreOptions, 'shortLived' | 'clock'>

/** An open store: all projects and sessions of one user. Made by `openStore`. */
export class Store {
  readonly #context: OpenContext
  readonly #sessions: OpenSessions
  readonly #threads: Threads
  readonly #isShort: boolean
  #closing: Promise<void> | undefined
  readonly #autoPrune: AutoPrune | undefined

  private constructor(context: OpenContext, { shortLived = false, clock }: StoreHabits) {
    this.#context = context
    this.#isShort = shortLived
    this.#threads = new Threads(context)
    this.#sessions = new OpenSessions(context)
    // The process that prunes would use the real time.
    this.#autoPrune = clock === undefined ? new AutoPrune(context) : undefined
  }

  /** @internal */
  static make(context: OpenContext, habits: StoreHabits): Store {
    return new Store(context, habits)
  }

  /** For the adapters of graph frameworks. @internal */
  get threads(): Threads {
    return this.#threads
  }

  /** Shared places for sessions and their files. */
  get remotes(): Remotes {
    return Remotes.make(this.#context)
  }

  /** The settings of the store, and projects that were moved. */
  get maintenance(): Maintenance {
    return Maintenance.make(this.#context)
  }

  /** The real path of the store. */
  get home(): string {
    return this.#context.home
  }

  /** The settings of the store as they are now. */
  get settings(): Config {
    return engine.storeSettings(this.home).config
  }

  /**
   * The project of exactly this folder, which may be missing if it has checkpoints. Throws PROJECT_REFUSED for `/`, a home
   * folder and the like.
   */
  async project(path: string, options: ProjectOptions = {}): Promise<Project> {
    refuseUnknown('project', options, { watch: true })
    const project = this.#projectAt(engine.projectFolder(this.#context, path))
    if (options.watch === true) project.watch()
    return project
  }

  /**
   * The project that a file or folder belongs to: the nearest folder at or above it that was saved before or is a repository.
   * A package (`package.json` and the like) is a project of its own unless a saved project above captures it.
   */
  async projectFor(path: string, options: CallOptions = {}): Promise<Project> {
    this.#context.calls.refuseClosed()
    const { input, callbacks } = splitOptions('projectFor', options)
    refuseUnknown('projectFor', input, {})
    const { root, part } = engine.resolveProjectRoot(this.#context, path)
    if (part !== undefined)
      callbacks.onWarning?.(`${printablePath(part)} is saved as part of ${printablePath(root)}.`)
    return this.#projectAt(root)
  }

  /** The projects with checkpoints, the last used first. @internal */
  async projects(): Promise<readonly engine.ProjectListItem[]> {
    return this.#perform('projects', engine.listProjects, {})
  }

  /**
   * Opens the session of an agent for writing, and begins it if there is none. Throws SESSION_BUSY while another process
   * writes it, and SESSION_UNKNOWN with `create: false`.
   */
  async session<State = AgentState>(
    id: string,
    options: SessionOptions = {},
  ): Promise<Session<State>> {
    return this.#sessions.open<State>(id, options)
  }

  /** The sessions of the store, the last used first. */
  async sessions(query: SessionsQuery = {}): Promise<readonly engine.SessionListItem[]> {
    return (await this.#perform('sessions', engine.listSessions, query)).sessions
  }

  /**
   * Opens a session for writing where an agent stopped, in this or another process, and finishes what was interrupted.
   * Throws SESSION_BUSY, and SESSION_UNKNOWN without `create`.
   */
  async resume<State = AgentState>(
    id: string,
    options: ResumeOptions = {},
  ): Promise<ResumedSession<State>> {
    return this.#sessions.resume<State>(id, options)
  }

  /**
   * Resumes any session in progress that no process continues, of any machine; undefined if there is none. Two callers never get
   * the same one. A session that cannot be opened here is reported to `onWarning`, or else as a warning of the process, and the next
   * one is taken. Throws REMOTE_UNKNOWN without a remote.
   */
  async claim<State = AgentState>(
    options: ClaimOptions = {},
  ): Promise<ResumedSession<State> | undefined> {
    return this.#sessions.claim<State>(options)
  }

  /** Begins a new session at a checkpoint: its id, or a reference within the session `of`. */
  async fork<State = AgentState>(ref: string, options: ForkOptions): Promise<Session<State>> {
    return this.#sessions.fork<State>(ref, options)
  }

  /** Deletes a session and its checkpoints; returns how many there were, 0 for an unknown session. */
  async deleteSession(id: string): Promise<number> {
    return this.#do(() => engine.deleteAnySession(this.#context, id))
  }

  /** The checkpoints of all projects and sessions, newest first. */
  async list(query: ListQuery = {}): Promise<readonly engine.StoreCheckpointView[]> {
    const { checkpoints } = await this.#perform('list', engine.listAll, query)
    return checkpoints
  }

  /** The same, a page at a time. */
  iterate(query: ListQuery = {}): AsyncGenerator<engine.StoreCheckpointView, void> {
    return iteratePages(query, (page) => this.#perform('iterate', engine.listAll, page))
  }

  /** How many checkpoints match. */
  async count(query: ScopeQuery = {}): Promise<number> {
    return this.#perform('count', engine.countAll, query)
  }

  /** The shortest prefix of each id that identifies one checkpoint of the store. @internal */
  async shortIds(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    return this.#do(async () => engine.shortIds(this.#context, ids))
  }

  /** The projects and sessions of the store, its size, and recent failures. */
  async status(options: CallOptions = {}): Promise<engine.StatusResult> {
    return this.#perform('status', engine.status, options)
  }

  /** Yields after commits to the store by any process, within about 150 ms. Ends with the signal or with `close`. */
  changes(options: Pick<CallOptions, 'signal'> = {}): AsyncGenerator<void, void, undefined> {
    const { input, callbacks } = splitOptions('changes', options)
    refuseUnknown('changes', input, {})
    return watchLedger(this.#context, callbacks.signal)
  }

  /** Removes what the retention policy and the limits say. `dryRun` returns the plan with the reasons and removes nothing. */
  async prune(options: PruneOptions = {}): Promise<engine.PruneResult> {
    const { calls } = this.#context
    const split = splitOptions('prune', options, { asks: 'confirmPrune' })
    if (options.unattended !== true) return calls.perform(engine.prune, this.#context, split)
    return calls.during(async () => {
      const pruned = await engine.pruneUnattended(this.#context, split)
      await engine.acknowledge(this.#context, { skipBusy: true })
      return pruned
    })
  }

  /** Checks that everything in the store can be read back. `verifyStore` checks a store that cannot be opened. */
  async verify(options: VerifyOptions = {}): Promise<engine.VerifyResult> {
    return this.#perform('verify', engine.verify, options)
  }

  /**
   * Changes the key to `encryption.newKey`, or to none; with `key` alone it encrypts older values. Blocks the event loop, and
   * no other process may have the store open. Throws STORE_BUSY, KEY_MISSING, KEY_WRONG.
   */
  async rekey(options: RekeyOptions = {}): Promise<engine.RekeyResult> {
    return this.#perform('rekey', engine.rekey, options)
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
  async recordFailure(failure: engine.FailureDetails): Promise<void> {
    return this.#do(async () => engine.recordFailure(this.#context, failure))
  }

  /**
   * Waits for the calls that are running, then closes the store and its sessions. It does not wait for a running tool, whose
   * end is then not recorded.
   */
  async close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** The same, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    await this.#context.calls.close()
    try {
      await this.#sessions.close()
      await explained(() => this.#context.snapshots.close())
      this.#autoPrune?.startIfDue()
    } finally {
      this.#autoPrune?.stop()
      await this.#context.fleet?.close()
      await this.#context.knownRemotes.close()
      this.#context.objects.close()
      this.#context.ledger.close({ tidy: !this.#isShort })
      this.#context.use.close()
    }
  }

  #perform<Result>(
    call: string,
    operation: engine.AnyOperation<engine.StoreContext, Result>,
    options: object,
  ): Promise<Result> {
    return this.#context.calls.perform(operation, this.#context, splitOptions(call, options))
  }

  #do<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#context.calls.run(work)
  }

  #projectAt(path: BytePath): Project {
    this.#context.calls.refuseClosed()
    refuseUnsafeFolder(path, bytePath(this.#context.home))
    this.#context.snapshots.warmUp()
    return Project.make({ ...this.#context, path })
  }
}
