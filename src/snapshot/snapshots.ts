// The snapshot layer's front end: turns a folder into a tree id and back. All slow work runs on the capture thread.
// `worker/capture-calls.ts` is the table of calls; the methods here fill in what the caller should not have to know.
import { join } from 'node:path'
import {
  type BytePath,
  bytePath,
  type CheckpointId,
  type ObjectId,
  type Project,
  type ProjectId,
} from '../model/index.js'
import { callInProcess, startThread, type Thread } from '../system/index.js'
import {
  type ExportedPack,
  exportPack,
  importPacks,
  type PackBytes,
  type PackContent,
} from './bundles/transfer.js'
import type { CaptureTarget } from './capture/capture-target.js'
import type { OnProgress } from './capture/progress.js'
import { refName } from './objects/commit.js'
import type { HunksRequest, Merged, MergeRequest } from './merge/merge-calls.js'
import { ensureRepository } from './repository.js'
import type { CaptureCalls } from './worker/capture-calls.js'
import type {
  ApplyRequest,
  CaptureData,
  CaptureRequest,
  ExpectRequest,
  FindAsidesRequest,
  RecordRequest,
  RestoreTarget,
  SettleRequest,
  SnapshotsOptions,
  Unplaced,
} from './worker/capture-requests.js'
import { readWatchNotes, type WatchNote } from './watch/watch-folder.js'

export type { OnProgress }
/** `signal` cancels the call. */
export type Listen = {
  readonly onProgress?: OnProgress | undefined
  readonly signal?: AbortSignal | undefined
}

const YOUNG_MB = 16
/** Each project in memory costs a thread and some megabytes. Watched projects do not count: a caller asked for them. */
const MAX_IN_MEMORY = 8
const CACHE_DELAY_MS = 200

export class Snapshots {
  readonly #options: SnapshotsOptions
  #thread: Thread<CaptureCalls> | undefined
  /** The stat cache is written shortly after a save, so that the save does not wait for it. */
  #cacheTimer: NodeJS.Timeout | undefined
  readonly #watched = new Set<BytePath>()
  /** The most recently used project is last. */
  readonly #inMemory = new Map<ProjectId, Project>()

  readonly fingerprints = this.#forward('fingerprints')
  readonly patch = this.#forward('patch')
  readonly filePatch = this.#forward('filePatch')
  readonly applyEdits = this.#forward('applyEdits')
  readonly traceLines = this.#forward('traceLines')
  readonly findCommittedLines = this.#forward('findCommittedLines')
  readonly rewrite = this.#forward('rewrite')
  readonly examine = this.#forward('examine')
  readonly materialize = this.#forward('materialize')

  constructor(options: SnapshotsOptions) {
    this.#options = options
  }

  /** Creates what is missing of the store's git repository. Await this before any other call. */
  async prepare(): Promise<void> {
    await ensureRepository(this.gitDir)
  }

  get gitDir(): string {
    return join(this.#options.home, 'objects.git')
  }

  /** Starts the thread ahead of need: it takes some milliseconds. */
  warmUp(): void {
    if (!this.#options.inProcess) this.#thread ??= this.#start()
  }

  /** The next capture of the project at this path starts a watch; later captures scan only what was touched. */
  watch(path: BytePath): void {
    this.#watched.add(path)
  }

  async unwatch(project: Pick<Project, 'id' | 'path'>): Promise<void> {
    if (this.#watched.delete(project.path)) await this.#call('unwatch', project.id)
  }

  /** Ends the watch and frees the memory of a project. The caller holds the project's lock. */
  async unload(project: Project): Promise<void> {
    this.#watched.delete(project.path)
    await this.forget(project)
  }

  /** Frees the memory of a project. A watch starts again with the next capture. The caller holds the project's lock. */
  async forget(project: Project): Promise<void> {
    this.#inMemory.delete(project.id)
    await this.#call('unload', project.id)
  }

  /** Notes that work on a project is done. Returns the projects to forget, least recently used first. */
  surplusAfter(project: Project): readonly Project[] {
    this.#inMemory.delete(project.id)
    if (!this.#watched.has(project.path)) this.#inMemory.set(project.id, project)
    return [...this.#inMemory.values()].slice(0, -MAX_IN_MEMORY)
  }

  /** Undefined if the project is not watched, or not yet. */
  async activity(project: Project) {
    return this.#watched.has(project.path) ? this.#call('activity', project.id) : undefined
  }

  /** Scans all of a watched project for changes without an event; the next capture includes them. */
  async lookAtAll(project: Project): Promise<void> {
    if (this.#watched.has(project.path)) await this.#call('lookAtAll', project.id)
  }

  /** The watches of all processes. */
  watches(): readonly WatchNote[] {
    return readWatchNotes(this.#options.home)
  }

  async capture(
    project: Project,
    {
      knownTrees,
      deferObjects,
      named,
    }: Pick<CaptureRequest, 'knownTrees' | 'deferObjects' | 'named'>,
    listen?: Listen,
  ) {
    const watch = this.#watched.has(project.path)
    const request = { ...this.#targetIn(project), knownTrees, deferObjects, named, watch }
    const captured = await this.#call('capture', request, listen)
    this.#scheduleCache()
    return captured
  }

  async record(facts: RecordRequest['facts'], since?: RecordRequest['since']) {
    return this.#call('record', { facts, since })
  }

  async compare(
    before: ObjectId | undefined,
    after: ObjectId,
    options: { readonly countLines: boolean },
  ) {
    return this.#call('compare', { before, after, ...options })
  }

  async expectPaths(project: Project, where: Omit<ExpectRequest, 'target'>): Promise<void> {
    await this.#call('expectSomewhere', { ...where, ...this.#targetIn(project) })
  }

  async plan(project: Project, goal: RestoreTarget) {
    return this.#call('plan', { ...goal, ...this.#targetIn(project) })
  }

  /** Merges two snapshots with a common base into one. Nothing refers to the result yet: record it under the same lock. */
  async merge(project: Project, work: Omit<MergeRequest, 'project' | 'target'>): Promise<Merged> {
    return this.#call('merge', { ...work, ...this.#targetIn(project) })
  }

  async chooseHunks(work: HunksRequest): Promise<ObjectId> {
    return this.#call('chooseHunks', work)
  }

  async apply({ id, path }: Project, work: Unplaced<ApplyRequest>, onProgress?: OnProgress) {
    return this.#call('apply', { project: id, root: path, ...work }, { onProgress })
  }

  async removeAsides({ id, path }: Project, work: Unplaced<SettleRequest>) {
    return this.#call('removeAsides', { project: id, root: path, ...work })
  }

  async findAsides({ id, path }: Project, left: Unplaced<FindAsidesRequest>) {
    return this.#call('findAsides', { project: id, root: path, ...left })
  }

  /** `path`: the project that the history is for. */
  async readHistory(path: BytePath, from: { readonly objects: string; readonly tip: ObjectId }) {
    return this.#call('readHistory', { ...from, limits: this.#options.limitsOf({ path }) })
  }

  async adopt(project: Project, from: { objects: string; tree: ObjectId }) {
    const limits = this.#options.limitsOf(project)
    return this.#call('adopt', { ...from, project: project.id, limits })
  }

  /**
   * The objects of `tree` that `base` does not have; `base` is null for a full pack. Throws STORE_DAMAGED if the store lacks one, and
   * if one is damaged, also while the chunks are read.
   */
  exportPack(content: PackContent): Promise<ExportedPack> {
    return exportPack((name, argument) => this.#call(name, argument), content)
  }

  /**
   * About how many bytes `exportPack` returns, without reading contents. Objects that a collection has stored as deltas make it too
   * low, so compare a chain of packs with the larger of this and the bytes of its full pack.
   */
  estimatePack(content: PackContent): Promise<number> {
    return this.#call('estimatePack', content)
  }

  /**
   * Stores a snapshot from its packs, the outermost parent first, for the caller to record. `tree` is complete afterwards, from the
   * packs and what the store has. Throws BAD_INPUT for packs that are incomplete, damaged or unsafe; the store is then as before.
   * The caller holds the project's lock.
   */
  async importPacks(
    project: Project,
    from: {
      readonly tree: ObjectId
      readonly packs: Iterable<PackBytes> | AsyncIterable<PackBytes>
    },
  ): Promise<void> {
    const target = { project: project.id, limits: this.#options.limitsOf(project) }
    await importPacks((name, argument) => this.#call(name, argument), { ...target, ...from })
  }

  async closeSource(): Promise<void> {
    return this.#call('closeSource', undefined)
  }

  async mend(what: Parameters<CaptureCalls['mend']>[0]['what'], aside: string) {
    return this.#call('mend', { what, aside })
  }

  refOf(project: Project, checkpoint: CheckpointId): string {
    return refName(project.id, checkpoint)
  }

  async close(): Promise<void> {
    const thread = this.#thread
    if (thread === undefined) return
    clearTimeout(this.#cacheTimer)
    await thread.call('writeCaches', undefined)
    await thread.call('close', undefined)
    await thread.close()
    this.#thread = undefined
  }

  #forward<N extends keyof CaptureCalls>(name: N) {
    return (argument: Parameters<CaptureCalls[N]>[0], listen?: Listen) =>
      this.#call(name, argument, listen)
  }

  #call<N extends keyof CaptureCalls>(
    name: N,
    argument: Parameters<CaptureCalls[N]>[0],
    listen?: Listen,
  ): Promise<Awaited<ReturnType<CaptureCalls[N]>>> {
    if (this.#thread === undefined || this.#thread.hasEnded) this.#thread = this.#start()
    return this.#thread.call(name, argument, listen)
  }

  #start(): Thread<CaptureCalls> {
    const { home, durability, inProcess } = this.#options
    const data: CaptureData = { home, durable: durability === 'fsync' }
    if (inProcess)
      return callInProcess(async () =>
        (await import('./worker/capture-calls.js')).captureCalls(data),
      )
    return startThread<CaptureCalls>(new URL('./capture-thread.js', import.meta.url), data, {
      youngMb: YOUNG_MB,
    })
  }

  #targetIn(project: Project): { readonly project: ProjectId; readonly target: CaptureTarget } {
    const { home, limitsOf } = this.#options
    const ignoreCase = process.platform === 'darwin' || process.platform === 'win32'
    const limits = limitsOf(project)
    const target = { root: project.path, home: bytePath(home), limits, ignoreCase }
    return { project: project.id, target }
  }

  #scheduleCache(): void {
    clearTimeout(this.#cacheTimer)
    this.#cacheTimer = setTimeout(() => {
      // If this fails, `close` tries again and reports the error; until then only time is lost.
      this.#thread?.call('writeCaches', undefined).catch(() => this.#scheduleCache())
    }, CACHE_DELAY_MS)
    this.#cacheTimer.unref()
  }
}
