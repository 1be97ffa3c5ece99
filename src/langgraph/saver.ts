// The entry `savestate/langgraph`: a checkpoint saver for LangGraph.js. docs/decisions/0013-langgraph.md explains which values a put
// stores, and why.
import {
  BaseCheckpointSaver,
  type ChannelVersions,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  type DeltaChannelHistory,
  type PendingWrite,
  WRITES_IDX_MAP,
} from '@langchain/langgraph-checkpoint'
import {
  type GraphCheckpoint,
  type GraphWrite,
  openStore,
  type Project,
  type RewindResult,
  SavestateError,
  type Store,
  type Threads,
} from '../index.js'
import { Channels } from './channels.js'
import {
  requestedPlace,
  type Config,
  toConfig,
  idOf,
  namespaceOf,
  requirePlace,
  requireCheckpointPlace,
  rejectStrategy,
  runOf,
  parseIds,
  threadOf,
} from './config.js'
import {
  listDeltaChannels,
  type Reader,
  readHistory,
  readMetadata,
  readTuple,
  selectValues,
  sendsChannel,
} from './checkpoint-json.js'
import {
  checkOptions,
  OPEN_OPTIONS,
  type OpenSaverOptions,
  rejectUnknown,
  type SaverOptions,
} from './options.js'
import { ThreadQueue } from './thread-queue.js'
import { dump } from './serial.js'

export type { OpenSaverOptions, SaverOptions } from './options.js'

export class SavestateSaver extends BaseCheckpointSaver {
  readonly #threads: Threads
  readonly #project: Project | undefined
  readonly #savesFiles: boolean
  readonly #channels: Channels
  readonly #queue = new ThreadQueue()
  #owned: Store | undefined

  constructor(options: SaverOptions) {
    // Other savers take no options, or a path. A JavaScript caller may try the same here.
    const { store, project, files = false, serde }: Partial<SaverOptions> = options ?? {}
    super(serde)
    if (store?.threads === undefined) {
      throw new SavestateError('BAD_INPUT', 'SavestateSaver needs an open store', {
        hint: 'Use `await SavestateSaver.open({ home })`, which opens one.',
      })
    }
    checkOptions(options)
    this.#threads = store.threads
    this.#project = project
    this.#savesFiles = files
    this.#channels = new Channels(serde === undefined ? this.serde : undefined)
  }

  /** Opens a store that belongs to this saver: `close` closes it. */
  static async open(options: OpenSaverOptions = {}): Promise<SavestateSaver> {
    rejectUnknown('SavestateSaver.open', options, OPEN_OPTIONS)
    const { project: path, files = false, serde, ...storeOptions } = options
    const store = await openStore(storeOptions)
    try {
      const project = path === undefined ? {} : { project: await store.project(path) }
      const own = serde === undefined ? {} : { serde }
      const saver = new SavestateSaver({ store, files, ...project, ...own })
      saver.#owned = store
      return saver
    } catch (error) {
      await store.close()
      throw error
    }
  }

  /** Waits for all writes so far, then closes the store if this saver opened it. */
  async close(): Promise<void> {
    await this.#queue.idle()
    await this.#owned?.close()
  }

  /** Creates the tables of the remote, as that of PostgresSaver does. Without a remote there is nothing to create. */
  async setup(): Promise<void> {
    await this.#threads.setup()
  }

  override async put(
    config: Config,
    checkpoint: Checkpoint,
    metadata: CheckpointMetadata,
    newVersions?: ChannelVersions,
  ): Promise<Config> {
    const { id: parent = null, thread, ns } = requirePlace(config)
    const place = { thread, ns, id: checkpoint.id }
    const values = selectValues(checkpoint, { parent, metadata, newVersions })
    const common = {
      ...place,
      parent,
      facts: JSON.stringify({ ...checkpoint, channel_values: undefined }),
      run: runOf(config, metadata),
      deltas: listDeltaChannels(metadata, values),
      sends: sendsChannel(checkpoint, parent),
    }
    const ready = Promise.all([
      this.#channels.dump(this.serde, { place, values }),
      dump(this.serde, { value: metadata, what: 'the metadata' }),
    ])
    return this.#queue.run({
      threads: [thread],
      ready,
      work: async ([dumped, dumpedMetadata]) => {
        const files = await this.#saveFiles(thread, metadata.step)
        await this.#threads.put({ ...common, values: dumped, metadata: dumpedMetadata, files })
        return toConfig(place)
      },
    })
  }

  override async putWrites(config: Config, writes: PendingWrite[], taskId: string): Promise<void> {
    const place = requireCheckpointPlace(config)
    const ready = Promise.all(
      writes.map(async ([channel, value], index): Promise<GraphWrite> => {
        const what = `a write to the channel ${JSON.stringify(channel)}`
        const dumped = await dump(this.serde, { value, what })
        const special = Object.hasOwn(WRITES_IDX_MAP, channel) ? WRITES_IDX_MAP[channel] : undefined
        return { task: taskId, idx: special ?? index, channel, value: dumped }
      }),
    )
    await this.#queue.run({
      threads: [place.thread],
      ready,
      work: (dumped) => this.#threads.putWrites(place, dumped),
    })
  }

  override async getTuple(config: Config): Promise<CheckpointTuple | undefined> {
    const found = await this.#find(config)
    return found === undefined ? undefined : this.#readTuple(found, { willBePut: true })
  }

  override async *list(
    config: Config,
    { limit = Number.POSITIVE_INFINITY, before, filter = {} }: CheckpointListOptions = {},
  ): AsyncGenerator<CheckpointTuple> {
    if (Number.isNaN(limit) || (Number.isFinite(limit) && !Number.isInteger(limit)))
      throw new SavestateError(
        'BAD_INPUT',
        `The limit of a list must be a whole number, not ${limit}`,
      )
    const wanted = Object.entries<unknown>(filter)
    await this.#threads.refresh(threadOf(config))
    const places = await this.#threads.list({
      thread: threadOf(config),
      ns: namespaceOf(config),
      id: idOf(config),
      before: before === undefined ? undefined : idOf(before),
      limit: wanted.length === 0 && Number.isFinite(limit) ? Math.max(0, limit) : undefined,
    })
    let left = limit
    for (const place of places) {
      if (left <= 0) return
      const found = await this.#threads.find(place)
      if (found === undefined || !(await this.#matches(found, wanted))) continue
      const tuple = await this.#readTuple(found, { willBePut: false })
      if (tuple === undefined) continue
      left -= 1
      yield tuple
    }
  }

  override async getDeltaChannelHistory({
    config,
    channels,
  }: {
    config: Config
    channels: string[]
  }): Promise<Record<string, DeltaChannelHistory>> {
    const found = await this.#find(config)
    if (found === undefined)
      return Object.fromEntries(channels.map((channel) => [channel, { writes: [] }]))
    const reader = this.#reader({ willBePut: true })
    const histories = await this.#threads.histories(found, channels)
    const reading = [...histories].map(async ([channel, history]) => {
      return [channel, await readHistory(reader, history)] as const
    })
    return Object.fromEntries(await Promise.all(reading))
  }

  /** Later writes that continue the thread fail. A run that starts from scratch creates it again. */
  override async deleteThread(threadId: string): Promise<void> {
    await this.#enqueue([threadId], () => this.#threads.delete(threadId))
  }

  /** Copies all checkpoints and writes, with the same ids. Does nothing if the thread does not exist. */
  async copyThread(from: string, to: string): Promise<void> {
    await this.#enqueue([from, to], () => this.#threads.copy(from, to))
  }

  /** `keep_latest` keeps the latest checkpoint of each namespace, and those that its delta channels are computed from. */
  async prune(
    threadIds: readonly string[],
    strategy: 'keep_latest' | 'delete' = 'keep_latest',
  ): Promise<void> {
    const threads = this.#threads
    const ids = parseIds(threadIds, 'threadIds')
    rejectStrategy(strategy)
    for (const id of ids)
      await this.#enqueue([id], () =>
        strategy === 'delete' ? threads.delete(id) : threads.keepLatest(id),
      )
  }

  /** Deletes the checkpoints of these runs. Only runs with a `run_id` in their metadata are found. */
  async deleteForRuns(runIds: readonly string[]): Promise<void> {
    const ids = parseIds(runIds, 'runIds')
    await this.#queue.idle()
    await this.#threads.deleteRuns(ids)
  }

  /** The id of the Savestate checkpoint of the project's files that was saved with a checkpoint of the graph. */
  async filesOf(config: Config): Promise<string | undefined> {
    return (await this.#find(config))?.files ?? undefined
  }

  /** Rewinds the folder to the files that were saved with a checkpoint of the graph. `project.undo` reverts it. */
  async rewindFiles(
    config: Config,
    options: { readonly dryRun?: boolean } = {},
  ): Promise<RewindResult> {
    const to = await this.filesOf(config)
    if (to !== undefined && this.#project !== undefined) return this.#project.rewind(to, options)
    throw new SavestateError('CHECKPOINT_PARTIAL', 'No files were saved with this checkpoint', {
      hint: 'Create the saver with a project and files: true to save them.',
    })
  }

  async #find(config: Config): Promise<GraphCheckpoint | undefined> {
    const place = requestedPlace(config)
    if (place === undefined) return undefined
    await this.#threads.refresh(place.thread)
    return this.#threads.find(place)
  }

  /** Undefined if it was removed meanwhile. */
  async #readTuple(
    found: GraphCheckpoint,
    use: Pick<Reader, 'willBePut'>,
  ): Promise<CheckpointTuple | undefined> {
    const contents = await this.#threads.read(found)
    return contents === undefined ? undefined : readTuple(this.#reader(use), { found, contents })
  }

  async #matches(
    found: GraphCheckpoint,
    wanted: readonly (readonly [string, unknown])[],
  ): Promise<boolean> {
    if (wanted.length === 0) return true
    const metadata = new Map(Object.entries<unknown>(await readMetadata(this, found)))
    return wanted.every(([key, value]) => metadata.get(key) === value)
  }

  #reader({ willBePut }: Pick<Reader, 'willBePut'>): Reader {
    const firstVersion = this.getNextVersion(undefined)
    return { serde: this.serde, channels: this.#channels, firstVersion, willBePut }
  }

  async #saveFiles(thread: string, step: number): Promise<string | null> {
    if (!this.#savesFiles || this.#project === undefined) return null
    const name = thread.replaceAll(/\p{Cc}/gu, ' ').slice(0, 200)
    return (await this.#project.save({ reason: `langgraph ${name} step ${step}` })).id
  }

  #enqueue<Result>(threads: readonly string[], work: () => Promise<Result>): Promise<Result> {
    return this.#queue.run({ threads, ready: Promise.resolve(), work })
  }
}
