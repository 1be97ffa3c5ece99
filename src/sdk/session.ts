// One agent's task over time, open for writing by this process alone.
import * as engine from '../engine/index.js'
import type { SessionPruneOptions } from '../model/index.js'
import type { AgentState } from './agent-state.js'
import { askOutside, type CallOptions, type SplitOptions, splitOptions } from './call-options.js'
import { SafeEmitter } from './events.js'
import { beat } from './opening/heartbeat.js'
import { expectObject, refuseNoList } from './opening/validate-options.js'
import { explained, type OpenCalls } from './opening/open-calls.js'
import { exportPages, iteratePages } from './pages.js'
import type {
  AppendOptions,
  ListAtOptions,
  ListSlice,
  OncePerTurnOptions,
  SessionEvents,
  SessionRewindOptions,
  SessionSaveOptions,
  StateOptions,
  ToolCallResolution,
} from './session-types.js'
import type { CheckpointQuery, SessionListQuery } from './store-types.js'

type Operation<Result> = engine.AnyOperation<engine.SessionContext, Result>

const NOTHING: SplitOptions = { input: {}, callbacks: {} }
type Owner = { readonly calls: OpenCalls; readonly onClose: () => void }

/**
 * One agent's task, open for writing. Made by `store.session`, `store.resume` and `store.fork`. It is an EventEmitter: see
 * `SessionEvents`. A listener that throws does not break the call; a process warning reports its error.
 */
export class Session<State = AgentState> extends SafeEmitter<SessionEvents> {
  readonly #context: engine.SessionContext
  readonly #turns = new engine.SavedTurns()
  readonly #calls: OpenCalls
  readonly #onClose: () => void
  readonly #endHeartbeat: () => void
  #closing: Promise<void> | undefined

  private constructor(context: engine.SessionContext, { calls, onClose }: Owner) {
    super()
    this.#context = context
    this.#calls = calls
    this.#onClose = onClose
    this.#endHeartbeat = beat(context, (error) => this.notify('lost', error))
  }

  /** @internal */
  static make<State>(context: engine.SessionContext, owner: Owner): Session<State> {
    return new Session<State>(context, owner)
  }

  get id(): string {
    return this.#context.lease.id
  }

  /** Adds a checkpoint: a state, the files of the project, or both. */
  async save(options: SessionSaveOptions<State> = {}): Promise<engine.SessionSaveResult> {
    const saved = await this.#perform(engine.saveSession, splitOptions('save', options))
    this.notify('saved', saved)
    return saved
  }

  /** Adds to a list of the state and saves: costs what is new, however long the list is. */
  async append<Key extends keyof State & string>(
    key: Key,
    items: State[Key] extends readonly (infer Item)[] | undefined
      ? readonly Item[]
      : readonly unknown[],
    options: AppendOptions<State> = {},
  ): Promise<engine.SessionSaveResult> {
    const split = splitOptions('append', options, { identity: { key, items } })
    const saved = await this.#perform(engine.appendToSession, split)
    this.notify('saved', saved)
    return saved
  }

  /** Begins a turn: the time from one prompt of the user to the next. Returns its number. */
  async newTurn(): Promise<number> {
    return this.#inOrder(engine.newTurn, NOTHING)
  }

  /** Saves the files once in each turn, if they changed. Call it before the first change of a turn. */
  async saveOncePerTurn(options: OncePerTurnOptions): Promise<engine.OncePerTurnResult> {
    const split = splitOptions('saveOncePerTurn', options, { identity: { turns: this.#turns } })
    const saved = await this.#inOrder(engine.saveOncePerTurn, split)
    if (saved.created) this.notify('saved', saved)
    return saved
  }

  /** The state of a checkpoint, or of the head: a new copy each time. Undefined if it was saved without one. */
  async stateAt(ref?: string): Promise<State | undefined>
  async stateAt<Key extends keyof State>(
    ref: string | undefined,
    options: StateOptions<Key>,
  ): Promise<Pick<State, Key> | undefined>
  async stateAt(
    ref?: string,
    options: { readonly keys?: readonly PropertyKey[] } = {},
  ): Promise<State | undefined> {
    expectObject('stateAt', options)
    refuseNoList('stateAt', 'keys', options.keys)
    const keys = options.keys?.map(String)
    const split = { input: { ...options, ref, keys }, callbacks: {} }
    return (await this.#perform(engine.stateAt, split)) as State | undefined
  }

  /** Items of a list of the state, without reading the rest of it. Undefined if the state has no such list. */
  async listAt<Key extends keyof State & string>(
    key: Key,
    options: ListAtOptions,
  ): Promise<ListSlice<State[Key]> | undefined> {
    const split = splitOptions('listAt', options, { identity: { key } })
    return (await this.#perform(engine.listAt, split)) as ListSlice<State[Key]> | undefined
  }

  /** How long a list of the state was at each checkpoint, oldest first. Reads no items of long lists. */
  async listLengths(key: keyof State & string): Promise<readonly engine.ListLength[]> {
    return this.#perform(engine.listLengths, { input: { key }, callbacks: {} })
  }

  /** One checkpoint with everything that is known about it. Throws CHECKPOINT_UNKNOWN. */
  async show(ref: string, options: CallOptions = {}): Promise<engine.CheckpointDetails> {
    const split = splitOptions('show', options, { identity: { ref } })
    return this.#perform(engine.showInSession, split)
  }

  /** The checkpoints of the session, newest first. */
  async list(query: SessionListQuery = {}): Promise<readonly engine.CheckpointView[]> {
    const { checkpoints } = await this.#perform(engine.listSession, splitOptions('list', query))
    return checkpoints
  }

  /** The same, a page at a time. */
  iterate(query: SessionListQuery = {}): AsyncGenerator<engine.CheckpointView, void> {
    const read = (page: object) => this.#perform(engine.listSession, splitOptions('iterate', page))
    return iteratePages(query, read)
  }

  /** How many checkpoints match. */
  async count(query: CheckpointQuery = {}): Promise<number> {
    return this.#perform(engine.countSession, splitOptions('count', query))
  }

  /** The newest checkpoint that matches; undefined if there is none. */
  async latest(query: CheckpointQuery = {}): Promise<engine.CheckpointView | undefined> {
    const [newest] = await this.list({ ...query, limit: 1 })
    return newest
  }

  /** The checkpoint that the next one will follow, with its metadata. Undefined for a session without checkpoints. */
  async head(): Promise<engine.SessionHead | undefined> {
    return this.#perform(engine.head, NOTHING)
  }

  /** How many checkpoints there are, by name, and over which time. */
  async summary(): Promise<engine.SessionSummary> {
    return this.#perform(engine.summary, NOTHING)
  }

  /** Brings the files, the state, or both back to a checkpoint. `stateAt()` returns the state afterwards. */
  async rewind(
    ref: string,
    options: SessionRewindOptions = {},
  ): Promise<engine.SessionRewindResult> {
    refuseNoList('rewind', 'paths', options?.paths)
    const split = splitOptions('rewind', options, { identity: { to: ref }, asks: 'confirm' })
    const asking = askOutside(split, this.#context.writeQueue)
    const result = await this.#inOrder(engine.rewindSession, asking)
    if (result.applied) this.notify('rewound', result)
    return result
  }

  /**
   * Runs a tool once, also across crashes: a call that was confirmed returns its recorded result; a call that was running
   * when its process died throws TOOL_UNVERIFIED until `resolveToolCall` says what happened to it.
   */
  async tool<Result>(
    request: engine.ToolRequest,
    run: (call: engine.ToolRun) => Promise<Result> | Result,
  ): Promise<Result> {
    // Closing the store does not wait for it: a tool may run for any time.
    this.#calls.refuseClosed()
    return explained(() => engine.runTool(this.#context, request, run))
  }

  /** The same for any other step of a program: runs it once and records its result under `key`. */
  async step<Result>(key: string, run: () => Promise<Result> | Result): Promise<Result> {
    this.#calls.refuseClosed()
    return explained(() => engine.runStep(this.#context, key, run))
  }

  /** Records what happened to a tool call that was running when its process died. */
  async resolveToolCall(id: string, resolution: ToolCallResolution): Promise<void> {
    expectObject('resolveToolCall', resolution)
    const result = engine.copyAtCall(this.#context, resolution.result)
    const input = { ...resolution, id, result }
    return this.#inOrder(engine.resolveToolCall, { input, callbacks: {} })
  }

  /** Tool calls that were started and whose end is not known. */
  async inFlight(): Promise<readonly engine.InFlight[]> {
    return this.#calls.run(() => engine.inFlight(this.#context))
  }

  /** Ends the session: its task is done. Its status is `completed`. */
  async complete(): Promise<engine.SessionView> {
    return this.#setStatus({ state: 'completed' })
  }

  /** Ends the session: its task could not be done, because of an error. Its status is `failed`. */
  async fail(reason: string): Promise<engine.SessionView> {
    return this.#setStatus({ state: 'failed', reason })
  }

  /**
   * Ends the session: something stopped it that was not an error, such as the user or a budget. Its status is `halted`.
   * Any ended session can be resumed; a session that is closed without being ended counts as interrupted.
   */
  async halt(reason: string): Promise<engine.SessionView> {
    return this.#setStatus({ state: 'halted', reason })
  }

  /** Keeps, if there are more than 50 checkpoints, the first, the last 20, the latest of each name and the pinned ones. */
  async prune(options: SessionPruneOptions & CallOptions = {}): Promise<engine.SessionPruneResult> {
    return this.#inOrder(engine.pruneSession, splitOptions('prune', options))
  }

  /** Oldest first: the whole first state, and for the others what is different (docs/internals/sessions.md#export). */
  async *export(
    options: Pick<CallOptions, 'signal'> = {},
  ): AsyncGenerator<engine.ExchangedCheckpoint, void, undefined> {
    yield* exportPages((after) =>
      this.#perform(engine.exportSession, splitOptions('export', options, { identity: { after } })),
    )
  }

  /** Adds checkpoints that are not in the session yet. If an item of a stream is refused, those before it stay imported. */
  async import(
    checkpoints: engine.ExchangedItems,
    options: Pick<CallOptions, 'signal'> = {},
  ): Promise<engine.ImportResult> {
    const given = engine.copyItemsAtCall(this.#context, checkpoints)
    const split = splitOptions('import', options, { identity: { checkpoints: given } })
    return this.#inOrder(engine.importSession, split)
  }

  /** Deletes the session and all its checkpoints; returns how many there were. It cannot be written to afterwards. */
  async delete(): Promise<number> {
    const remove = () => engine.deleteAnySession(this.#context, this.id)
    const removed = await this.#calls.run(() => this.#context.writeQueue.do(remove))
    this.#closing ??= Promise.resolve(this.#end())
    return removed
  }

  /** Waits for the calls that are running, then releases the lease. A session that is not ended then counts as interrupted. */
  async close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  /** The same, for `await using`. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    await this.#context.writeQueue.close()
    try {
      await engine.closeSession(this.#context)
    } finally {
      this.#end()
    }
  }

  #end(): void {
    this.#endHeartbeat()
    this.#onClose()
    this.notify('closed', { id: this.id })
  }

  async #setStatus(status: engine.StatusInput): Promise<engine.SessionView> {
    const view = await this.#inOrder(engine.setStatus, { input: { status }, callbacks: {} })
    this.notify('status', view)
    return view
  }

  /** For writes. Saves queue themselves, because they read the state first. */
  #inOrder<Result>(operation: Operation<Result>, split: SplitOptions): Promise<Result> {
    const queue = this.#context.writeQueue
    return this.#calls.perform(operation, this.#context, { ...split, queue })
  }

  #perform<Result>(operation: Operation<Result>, split: SplitOptions): Promise<Result> {
    return this.#calls.perform(operation, this.#context, split)
  }
}
