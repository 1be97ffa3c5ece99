// One agent's task over time, open for writing by this process alone.
import * as engine from '../engine/index.js'
import type { Hooks } from '../engine/index.js'
import type { SessionPruneOptions } from '../model/index.js'
import type { AgentState } from './agent-state.js'
import { Events } from './events.js'
import { explained } from './opening/with-system-errors.js'
import { beat } from './opening/heartbeat.js'
import {
  expectHooks,
  expectObject,
  refuseNoList,
  refuseUnknown,
} from './opening/validate-options.js'
import type { OpenCalls } from './opening/open-calls.js'
import type { SaveInput, SessionEvents, SessionRewindInput } from './session-types.js'

type Operation<Result> =
  | engine.OperationOf<engine.SessionContext, unknown, Result>
  | engine.Later<engine.SessionContext, Result>

/** One agent's task, open for writing. Made by `store.session`, `store.resume` and `store.fork`. */
export class Session<State = AgentState> {
  readonly #context: engine.SessionContext
  readonly #events = new Events<SessionEvents>()
  readonly #turns = new engine.EnsuredTurns()
  readonly #calls: OpenCalls
  readonly #onClose: () => void
  readonly #endHeartbeat: () => void
  #closing: Promise<void> | undefined

  /** Use `store.session` or `store.resume`. */
  constructor(
    context: engine.SessionContext,
    { calls, onClose }: { readonly calls: OpenCalls; readonly onClose: () => void },
  ) {
    this.#context = context
    this.#calls = calls
    this.#onClose = onClose
    this.#endHeartbeat = context.isLeased
      ? beat(context, (error) => this.#events.emit('lost', error))
      : () => undefined
  }

  get id(): string {
    return this.#context.hold.id
  }

  /** Adds a checkpoint. */
  async save(input: SaveInput<State> = {}, hooks?: Hooks): Promise<engine.SessionSaveResult> {
    const saved = await this.#perform(engine.saveSession, input, hooks)
    this.#events.emit('saved', saved)
    return saved
  }

  /** Adds to a list of the state and saves: costs what is new, however long the list is. */
  async append<Key extends keyof State & string>(
    key: Key,
    items: State[Key] extends readonly (infer Item)[] | undefined
      ? readonly Item[]
      : readonly unknown[],
    input: Omit<SaveInput<State>, 'state'> = {},
    hooks?: Hooks,
  ): Promise<engine.SessionSaveResult> {
    const saved = await this.#perform(engine.appendToSession, { ...input, key, items }, hooks)
    this.#events.emit('saved', saved)
    return saved
  }

  /** From one prompt of the user to the next; the number of the new turn. */
  async newTurn(): Promise<number> {
    return this.#inOrder(engine.newTurn, {})
  }

  /** Saves the files once in each turn, if they changed; to be called before the first change. */
  async ensure(reason: string, hooks?: Hooks): Promise<engine.EnsureResult> {
    const ensured = await this.#inOrder(engine.ensure, { reason, turns: this.#turns }, hooks)
    if (ensured.created) this.#events.emit('saved', ensured)
    return ensured
  }

  /** The state of a checkpoint, or of the head; only some keys of it if wished. A copy, each time. */
  async stateAt(ref?: string): Promise<State | undefined>
  async stateAt<Key extends keyof State>(
    ref: string | undefined,
    options: { readonly keys: readonly Key[] },
  ): Promise<Pick<State, Key> | undefined>
  async stateAt(
    ref?: string,
    options: { readonly keys?: readonly PropertyKey[] } = {},
  ): Promise<State | undefined> {
    expectObject('stateAt', options)
    refuseNoList('stateAt', 'keys', options.keys)
    const keys = options.keys?.map(String)
    const state = await this.#perform(engine.stateAt, { ...options, ref, keys })
    return state as State | undefined
  }

  /** One checkpoint with all that is known of it. */
  async show(ref: string): Promise<engine.CheckpointDetails> {
    return this.#perform(engine.showInSession, { ref })
  }

  /** Newest first; `before` is the id that the last page ended with. */
  async list(
    input: { readonly limit?: number; readonly before?: string } = {},
  ): Promise<readonly engine.CheckpointView[]> {
    return this.#perform(engine.listSession, input)
  }

  /** Newest first, a page at a time. */
  async *iterate(
    options: { readonly pageSize?: number } = {},
  ): AsyncGenerator<engine.CheckpointView, void, undefined> {
    refuseUnknown('iterate', options, { pageSize: true })
    const { pageSize = 100 } = options
    let beforeStep: number | undefined
    for (;;) {
      const page = await this.#perform(engine.listSession, { limit: pageSize, beforeStep })
      yield* page
      beforeStep = page.at(-1)?.step ?? undefined
      if (page.length < pageSize) return
    }
  }

  [Symbol.asyncIterator](): AsyncGenerator<engine.CheckpointView, void, undefined> {
    return this.iterate()
  }

  /** Newest first. */
  async byName(name: string): Promise<readonly engine.CheckpointView[]> {
    return this.#perform(engine.listSession, { name })
  }

  async latest(name?: string): Promise<engine.CheckpointView | undefined> {
    return this.#perform(engine.latest, { name })
  }

  /** From a moment on, oldest first. */
  async since(from: Date): Promise<readonly engine.CheckpointView[]> {
    return this.#perform(engine.since, { from })
  }

  /** Both moments included, oldest first. */
  async between(from: Date, to: Date): Promise<readonly engine.CheckpointView[]> {
    return this.#perform(engine.between, { from, to })
  }

  /** The checkpoint that the next one will follow, with what its save said of it. */
  async head(): Promise<engine.SessionHead | undefined> {
    return this.#perform(engine.head, {})
  }

  async summary(): Promise<engine.SessionSummary> {
    return this.#perform(engine.summary, {})
  }

  /** Back to a checkpoint: the files, the state, or both at once. `stateAt()` has the state afterwards. */
  async rewind(
    to: string,
    options: SessionRewindInput = {},
    hooks: Hooks = {},
  ): Promise<engine.SessionRewindResult> {
    expectObject('rewind', options)
    refuseNoList('rewind', 'paths', options.paths)
    expectHooks(hooks)
    const { order } = this.#context
    const { confirm } = hooks
    const paths = [...(options.paths ?? [])]
    const result = await this.#inOrder(
      engine.rewindSession,
      { ...options, paths, to },
      confirm === undefined
        ? hooks
        : { ...hooks, confirm: (...plan) => order.aside(() => confirm(...plan)) },
    )
    if (result.applied) this.#events.emit('rewound', result)
    return result
  }

  /**
   * Runs a tool once, whatever happens: a call that was confirmed gives its recorded result, one that was under way
   * when its process died throws TOOL_UNVERIFIED until `decide` has said what became of it.
   */
  async tool<Result>(
    request: engine.ToolRequest,
    run: (call: engine.ToolRun) => Promise<Result> | Result,
  ): Promise<Result> {
    // Not one of the calls that closing the store waits for: nobody knows how long a tool runs.
    this.#calls.refuseClosed()
    return explained(() => engine.runTool(this.#context, request, run))
  }

  /** The same for any other step. */
  async once<Result>(key: string, run: () => Promise<Result> | Result): Promise<Result> {
    this.#calls.refuseClosed()
    return explained(() => engine.runOnce(this.#context, key, run))
  }

  /** Says what became of a call that was under way: `confirm` (with its result), `retry` or `skip`. */
  async decide(id: string, action: 'confirm' | 'retry' | 'skip', result?: unknown): Promise<void> {
    const outcome = engine.asAtCall(this.#context, result)
    return this.#inOrder(engine.decideTool, { id, action, result: outcome })
  }

  /** Tool calls that were begun and whose end is not known. */
  async inFlight(): Promise<readonly engine.InFlight[]> {
    return this.#calls.during(() => explained(async () => engine.inFlight(this.#context)))
  }

  async complete(): Promise<engine.SessionView> {
    return this.#setStatus({ state: 'completed' })
  }

  async fail(reason: string): Promise<engine.SessionView> {
    return this.#setStatus({ state: 'failed', reason })
  }

  async halt(reason: string): Promise<engine.SessionView> {
    return this.#setStatus({ state: 'halted', reason })
  }

  /** Of more than 50 checkpoints, keeps the first, the last 20, the latest of each name and the pinned ones. */
  async prune(input: SessionPruneOptions = {}): Promise<engine.SessionPruneResult> {
    return this.#inOrder(engine.pruneSession, input)
  }

  /** Oldest first: the first state whole, of the others what is different (docs/sessions.md#export). */
  async *export(): AsyncGenerator<engine.ExchangedCheckpoint, void, undefined> {
    let after: engine.ExportPage['cursor']
    do {
      const page: engine.ExportPage = await this.#perform(engine.exportSession, { after })
      yield* page.items
      after = page.cursor
    } while (after !== undefined)
  }

  /** Adds what is not there yet. An item of a stream that is refused leaves those before it imported. */
  async import(checkpoints: engine.ExchangedItems): Promise<engine.ImportResult> {
    const given = engine.itemsAtCall(this.#context, checkpoints)
    return this.#inOrder(engine.importSession, { checkpoints: given })
  }

  /** Forgets the session and all its checkpoints; how many there were. It cannot be written to afterwards. */
  async clear(): Promise<number> {
    const { hold, order } = this.#context
    const { removed } = await this.#calls.during(() =>
      explained(() =>
        order.do(async () => engine.deleteSession(this.#context, this.id, { fence: hold.fence })),
      ),
    )
    this.#closing ??= Promise.resolve(this.#end())
    return removed
  }

  on<Name extends keyof SessionEvents>(
    name: Name,
    listener: (event: SessionEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener)
  }

  /** Waits for what is under way and gives the right to write back. A session that is not ended counts as interrupted then. */
  async close(): Promise<void> {
    this.#closing ??= this.#close()
    return this.#closing
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close()
  }

  async #close(): Promise<void> {
    const { order, isLeased, ledger, hold } = this.#context
    await order.close()
    if (isLeased) ledger.sessions.releaseLease(hold)
    this.#end()
  }

  #end(): void {
    this.#endHeartbeat()
    this.#onClose()
    this.#events.emit('closed', { id: this.id })
  }

  async #setStatus(status: engine.StatusInput): Promise<engine.SessionView> {
    const view = await this.#inOrder(engine.setStatus, { status })
    this.#events.emit('status', view)
    return view
  }

  /** For what writes. Saves find their place themselves, because they read the state first. */
  #inOrder<Result>(operation: Operation<Result>, input: unknown, hooks?: Hooks): Promise<Result> {
    const { order } = this.#context
    return this.#calls.during(() => order.do(() => this.#run(operation, input, hooks)))
  }

  #perform<Result>(operation: Operation<Result>, input: unknown, hooks?: Hooks): Promise<Result> {
    return this.#calls.during(() => this.#run(operation, input, hooks))
  }

  #run<Result>(operation: Operation<Result>, input: unknown, hooks?: Hooks): Promise<Result> {
    return engine.perform(operation, this.#context, { input, hooks: this.#calls.hooksOf(hooks) })
  }
}
