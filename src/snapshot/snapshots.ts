// The room's face: a folder ⇄ a tree id. Everything slow happens on the capture thread.
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BytePath,
  bytePath,
  type CheckpointId,
  type ObjectId,
  type Project,
  type ProjectId,
  type RestorePlan,
  type Snapshot,
} from '../model/index.js'
import { callHere, startThread, type Thread } from '../system/index.js'
import type { CaptureProgress } from './capture/progress.js'
import type { Site } from './capture/capture-target.js'
import { hasLargeCache, StatAhead } from './capture/stat-cache/stat-worker-client.js'
import type {
  ApplyRequest,
  CaptureCalls,
  CaptureData,
  CaptureRequest,
  ExpectRequest,
  FindAsidesRequest,
  FingerprintRequest,
  Recorded,
  RecordRequest,
  RestoreTarget,
  RewriteRequest,
  SettleRequest,
  SettleResult,
  SnapshotsOptions,
  Unplaced,
} from './worker/capture-requests.js'
import type { ExamineRequest, ObjectReport } from './repair/examine.js'
import type { MendRequest } from './repair/repair-objects.js'
import type { Change } from './compare/compare.js'
import { refName } from './objects/commit.js'
import type { SourceHistory } from './import/source-history.js'
import type { PatchRequest } from './compare/patch.js'
import type { Rewritten } from './compare/remove-path.js'
import type { Captured } from './capture/capture-types.js'
import type { Applied } from './restore/apply.js'
import { ensureRepository } from './repository.js'
import type { Activity } from './watch/project-watch.js'
import { readWatchNotes, type WatchNote } from './watch/watch-notes.js'

export type OnProgress = (progress: CaptureProgress) => void
/** `signal` cancels the call. */
export type Listen = {
  readonly onProgress?: OnProgress | undefined
  readonly signal?: AbortSignal | undefined
}

const YOUNG_MB = 16
/** Each is a thread and some megabytes. Those that are watched are not counted: somebody wants them to be. */
const MAX_AT_HAND = 8

export class Snapshots {
  readonly #options: SnapshotsOptions
  #thread: Thread<CaptureCalls> | undefined
  /** The cache is written a little after a save, off its path. */
  #cacheTimer: NodeJS.Timeout | undefined
  /** A helper that was started ahead of the capture it is for. */
  #ahead: { readonly project: ProjectId; readonly helper: StatAhead } | undefined
  readonly #watched = new Set<BytePath>()
  /** Used last comes last. */
  readonly #atHand = new Map<ProjectId, Project>()

  constructor(options: SnapshotsOptions) {
    this.#options = options
  }

  /** Makes what is missing of the store's git repository. To be awaited before anything else. */
  async prepare(): Promise<void> {
    await ensureRepository(this.gitDir)
  }

  get gitDir(): string {
    return join(this.#options.home, 'objects.git')
  }

  /** Starts the thread ahead of need: it takes some milliseconds. */
  warmUp(): void {
    if (!this.#options.mayBlock) this.#thread ??= this.#start()
  }

  /** A capture comes next. Where it runs on this thread, its helper starts while the rest is loaded. */
  expectCapture(project: ProjectId): void {
    const { mayBlock, home } = this.#options
    if (!mayBlock || this.#thread !== undefined || !hasLargeCache(home, project)) return
    const helper = new StatAhead(new URL('./stat-thread.js', import.meta.url))
    helper.warmUp()
    this.#ahead = { project, helper }
  }

  /** A first save is likely to come: its threads start while the caller does something else. */
  expectFirstSave(): void {
    if (this.#options.mayBlock) return
    // Only a matter of time; if the thread cannot work, the save will say so.
    this.#call('expectMany', undefined).catch(() => undefined)
  }

  /** A capture of the project at this path begins a watch on it; those after look only at what was touched. */
  watch(path: BytePath): void {
    this.#watched.add(path)
  }

  async unwatch(project: Pick<Project, 'id' | 'path'>): Promise<void> {
    if (this.#watched.delete(project.path)) await this.#call('unwatch', project.id)
  }

  /** The watch, and all else that is in memory of it. The project's lock is held. */
  async letGo(project: Project): Promise<void> {
    this.#watched.delete(project.path)
    await this.forget(project)
  }

  /** What is in memory of it; a watch that was asked for begins again with the next capture. The project's lock is held. */
  async forget(project: Project): Promise<void> {
    this.#atHand.delete(project.id)
    await this.#call('letGo', project.id)
  }

  /** Work on a project is done. The projects that are too many to be remembered, those first that were left alone longest. */
  surplusAfter(project: Project): readonly Project[] {
    this.#atHand.delete(project.id)
    if (!this.#watched.has(project.path)) this.#atHand.set(project.id, project)
    return [...this.#atHand.values()].slice(0, -MAX_AT_HAND)
  }

  /** Undefined of a project that is not watched, or not yet. */
  async activity(project: Project): Promise<Activity | undefined> {
    return this.#watched.has(project.path) ? this.#call('activity', project.id) : undefined
  }

  /** Looks at all of a watched project for changes that no event told of; the next capture takes them in. */
  async lookAtAll(project: Project): Promise<void> {
    if (this.#watched.has(project.path)) await this.#call('lookAtAll', project.id)
  }

  /** All that are going on, in any process. */
  watches(): readonly WatchNote[] {
    return readWatchNotes(this.#options.home)
  }

  /**
   * `held`: snapshots of the project's newest checkpoints, newest first. `holdObjects`: the caller records the snapshot
   * next, or nothing; until then its objects cannot be read.
   */
  async capture(
    project: Project,
    { held, holdObjects, named }: Pick<CaptureRequest, 'held' | 'holdObjects' | 'named'>,
    listen?: Listen,
  ): Promise<Captured> {
    const place = { project: project.id, site: this.#siteOf(project) }
    const request = { ...place, held, holdObjects, named, watch: this.#watched.has(project.path) }
    const captured = await this.#call('capture', request, listen)
    this.#scheduleCache()
    return captured
  }

  /** Makes the commit and the ref that keep a snapshot; afterwards a row may refer to it (I1). */
  async record(facts: RecordRequest['facts'], since?: RecordRequest['since']): Promise<Recorded> {
    return this.#call('record', { facts, since })
  }

  async compare(
    before: ObjectId | undefined,
    after: ObjectId,
    options: { readonly countLines: boolean },
  ): Promise<readonly Change[]> {
    return this.#call('compare', { before, after, ...options })
  }

  async fingerprints(request: FingerprintRequest): Promise<readonly string[]> {
    return this.#call('fingerprints', request)
  }

  /** Refuses a path that is in none of these snapshots, nor in the folder. */
  async expectPaths(project: Project, where: Omit<ExpectRequest, 'site'>): Promise<void> {
    await this.#call('expectSomewhere', { site: this.#siteOf(project), ...where })
  }

  async patch(request: PatchRequest): Promise<string> {
    return this.#call('patch', request)
  }

  /** Writes checkpoints anew without a path. No ref and no row knows of them yet: the caller holds the project's lock. */
  async rewrite(request: RewriteRequest): Promise<readonly Rewritten[]> {
    return this.#call('rewrite', request)
  }

  /** What it would take to bring the project, as just captured, to a snapshot. Changes nothing. */
  async plan(project: Project, target: RestoreTarget): Promise<RestorePlan> {
    return this.#call('plan', { project: project.id, site: this.#siteOf(project), ...target })
  }

  async apply(
    project: Project,
    work: Unplaced<ApplyRequest>,
    onProgress?: OnProgress,
  ): Promise<Applied> {
    const request = { project: project.id, root: project.path, ...work }
    return this.#call('apply', request, { onProgress })
  }

  async settleAsides({ id, path }: Project, work: Unplaced<SettleRequest>): Promise<SettleResult> {
    return this.#call('settleAsides', { project: id, root: path, ...work })
  }

  async findAsides({ id, path }: Project, left: Unplaced<FindAsidesRequest>) {
    return this.#call('findAsides', { project: id, root: path, ...left })
  }

  /** What leads to a commit of somebody else's repository, whose folder of objects is `objects`; `path`: the project it is for. */
  async readHistory(
    path: BytePath,
    from: { readonly objects: string; readonly tip: ObjectId },
  ): Promise<SourceHistory> {
    return this.#call('readHistory', { ...from, limits: this.#options.limitsOf({ path }) })
  }

  /** Brings a tree of that repository into the store, for the caller to record. The project's lock is held. */
  async adopt(project: Project, from: { objects: string; tree: ObjectId }): Promise<Snapshot> {
    const limits = this.#options.limitsOf(project)
    return this.#call('adopt', { ...from, project: project.id, limits })
  }

  /** Nothing more is read from there, and what was learnt of it is forgotten. */
  async closeSource(): Promise<void> {
    return this.#call('closeSource', undefined)
  }

  /** What is wrong with objects, refs and caches, as far as it is asked for. Changes nothing. */
  async examine(request: ExamineRequest, listen?: Listen): Promise<ObjectReport> {
    return this.#call('examine', request, listen)
  }

  /** `aside`: the folder for what has to make room. */
  async mend(what: MendRequest, aside: string): Promise<ObjectId | undefined> {
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

  #call<N extends keyof CaptureCalls>(
    name: N,
    argument: Parameters<CaptureCalls[N]>[0],
    listen?: Listen,
  ): Promise<Awaited<ReturnType<CaptureCalls[N]>>> {
    if (this.#thread === undefined || this.#thread.hasEnded) this.#thread = this.#start()
    return this.#thread.call(name, argument, listen)
  }

  #start(): Thread<CaptureCalls> {
    const { home, durability, mayBlock } = this.#options
    const isNew = !existsSync(this.gitDir)
    const data: CaptureData = { home, durable: durability === 'fsync', isNew }
    if (mayBlock)
      return callHere(async () =>
        (await import('./worker/capture-calls.js')).captureCalls(data, {
          helperFor: (project) =>
            this.#ahead?.project === project ? this.#ahead.helper : undefined,
        }),
      )
    return startThread<CaptureCalls>(new URL('./capture-thread.js', import.meta.url), data, {
      youngMb: YOUNG_MB,
    })
  }

  #siteOf(project: Project): Site {
    const { home, limitsOf } = this.#options
    const ignoreCase = process.platform === 'darwin' || process.platform === 'win32'
    return { root: project.path, home: bytePath(home), limits: limitsOf(project), ignoreCase }
  }

  #scheduleCache(): void {
    clearTimeout(this.#cacheTimer)
    this.#cacheTimer = setTimeout(() => {
      // If it fails, `close` tries again and says so; until then only time is lost.
      this.#thread?.call('writeCaches', undefined).catch(() => this.#scheduleCache())
    }, 200)
    this.#cacheTimer.unref()
  }
}
