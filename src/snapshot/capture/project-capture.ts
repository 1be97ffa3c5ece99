// Captures a project: scan, hash, build trees, store. The nodes stay in memory and in the stat cache, so that the next
// capture reads only what changed.
import { join } from 'node:path'
import {
  type BytePath,
  type ChangeCounts,
  type ObjectId,
  type ProjectId,
  ROOT,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { describeFiles, finishSnapshot, type Found, TreeBuilder } from './build-snapshot.js'
import type { CountedChanges } from './hash/change-tally.js'
import { expectSameRoot, rootReplacedError } from './capture-errors.js'
import { Hasher } from './hash/hasher.js'
import { FolderNode, type Node, totalLines } from './stat-cache/node.js'
import { addNamedPaths, storeNamed } from './scan/named-paths.js'
import { ProgressCounter } from './progress.js'
import type { PackedNodes } from './stat-cache/packed-nodes.js'
import { Scan } from './scan/scan.js'
import type { Scanned, ScanOptions } from './scan/scan-types.js'
import type { Captured, CaptureTarget, CaptureWork } from './capture-target.js'
import type { StatWorkerClient } from './stat-cache/stat-worker-client.js'
import { type CachedProject, saveStatCache, readStatCache } from './stat-cache/stat-cache.js'
import { ObjectSink, type ObjectStore } from '../objects/object-store.js'
import type { EventQueue } from '../watch/event-queue.js'
import type { Touches } from '../watch/touches.js'
import { noteWatch, type WatchFolder } from '../watch/watch-folder.js'
import { WatchedProject } from '../watch/watched-project.js'

export type CaptureSettings = {
  readonly home: string
  readonly store: ObjectStore
  readonly durable: boolean
  readonly hashThread: URL
  readonly statWorker: StatWorkerClient
  /** Shared by the watches of all projects. */
  readonly events: EventQueue
  readonly watchFolder: WatchFolder
}

const MAX_UNWRITTEN = 100
/** The cache is rewritten well before a prune removes the checkpoint that keeps its objects. */
const MAX_CHECKPOINTS_SINCE = 12

export class ProjectCapture {
  readonly #settings: CaptureSettings
  readonly #project: ProjectId
  #known: CachedProject | undefined
  /** The nodes of `#known` that were read from the cache and not visited since. */
  #packed: PackedNodes | undefined
  #isCacheRead = false
  /** The number of nodes whose current state is not in the cache on disk. */
  #unwritten = 0
  /** The checkpoint that keeps the objects of the cache on disk is old or gone. */
  #isCacheAged = false
  #watch: WatchedProject | undefined
  #counted: CountedChanges | undefined
  #found: Found | undefined
  #deferred: { readonly sink: ObjectSink; readonly tree: ObjectId } | undefined

  constructor(project: ProjectId, settings: CaptureSettings) {
    this.#project = project
    this.#settings = settings
  }

  get #cachePath(): string {
    return join(this.#settings.home, 'cache', this.#project)
  }

  /** The nodes of the last capture, including named paths. */
  get root(): FolderNode {
    return this.#found?.root ?? new FolderNode(ROOT, { viaIndex: false })
  }

  /** From now on a capture scans only what was touched. */
  watch(root: BytePath): void {
    const { events, watchFolder } = this.#settings
    this.#watch ??= new WatchedProject({
      root,
      events,
      known: () => this.#known,
      report: (report) => noteWatch(watchFolder, this.#project, report),
    })
  }

  unwatch(): void {
    this.#watch?.close()
    this.#watch = undefined
  }

  get watched(): WatchedProject | undefined {
    return this.#watch
  }

  async capture(target: CaptureTarget, work: CaptureWork): Promise<Captured> {
    const { knownTrees, deferObjects, report } = work
    this.#deferred?.sink.abandon()
    this.#deferred = undefined
    const known = this.#recall(target.root, knownTrees)
    // Nothing may throw between this and the next statement: the watch reports each touch only once.
    const touches = await this.#watch?.take()
    // The scan changes the nodes in place, so they are useless if it fails.
    this.#known = this.#found = undefined
    const { store, durable, hashThread } = this.#settings
    const sink = this.#newSink()
    const progress = new ProgressCounter(report)
    const onProgress = (files: number, bytes: number) => progress.stored(files, bytes)
    const { root, limits } = target
    const { maxFileBytes } = limits
    const hasher = new Hasher({ root, store, sink, durable, maxFileBytes, hashThread, onProgress })
    // Only changes since the newest checkpoint are ever asked for.
    if (known?.snapshot?.tree !== knownTrees[0]) hasher.tally.giveUp()
    try {
      const memory = { known, touches }
      const scanned = this.#scan(target, memory, {
        isStored: (node) =>
          (known !== undefined && node.epoch <= known.keptEpoch) ||
          (node.id !== undefined && sink.has(node.id)),
        onFile: (count) => progress.scanned(count),
        onPending: (item) => hasher.add(item),
      })
      // Read this before building: the builder gives the root an id as soon as all contents have one.
      const hasSameFiles = scanned.root.id !== undefined
      const epoch = (known?.epoch ?? 0) + 1
      progress.toStore(scanned.pending.length)
      const builder = new TreeBuilder(scanned.root, sink, epoch)
      await Promise.race([hasher.finish(() => builder.advance()), progress.cancelled])
      if (touches !== undefined && this.#watch?.isRoot(scanned.root) === false)
        throw rootReplacedError(target.root)
      expectSameRoot(target.root, scanned.root.ino)
      for (const node of scanned.pending) node.epoch = epoch
      this.#settings.statWorker.update(scanned.restamped)
      failpoint('capture:hashed')
      const hasSameModes = !scanned.haveModesChanged && !hasher.hasGivenUp
      const now = { known, builder, hasSameModes, hasSameFiles, store, packed: this.#packed }
      const { snapshot, modes } = finishSnapshot(scanned, now)
      if (deferObjects && sink.isSmall) this.#deferred = { sink, tree: snapshot.tree }
      else await sink.finish()
      failpoint('capture:stored')
      this.#known = {
        root: scanned.root,
        indexes: new Map(
          [...scanned.repositories].map(([path, tracking]) => [path, tracking.known]),
        ),
        rootPath: target.root,
        snapshot,
        modes,
        keptBy: known?.keptBy,
        keptEpoch: known?.keptEpoch ?? 0,
        epoch,
      }
      this.#found = { root: scanned.root, unreadable: scanned.unreadable }
      const counts = hasSameModes ? hasher.tally.counts : undefined
      this.#counted = { since: known?.snapshot?.tree, tree: snapshot.tree, counts }
      this.#unwritten += scanned.newsCount
      this.#watch?.reportNews()
      // The stat thread costs 10 MB, and a watched project rarely needs a full scan.
      if (this.#watch !== undefined) this.#settings.statWorker.close()
      if (knownTrees.includes(snapshot.tree)) this.keep(snapshot.tree)
      if (this.#watch?.markHardLinks(scanned.linked, scanned.root) === true)
        return await this.capture(target, work)
      return { snapshot, lines: knownTrees.length === 0 ? totalLines(scanned.root) : undefined }
    } catch (error) {
      sink.abandon()
      this.#watch?.cancelScan()
      throw error
    } finally {
      hasher.close()
    }
  }

  /** Adds paths to the last capture that its rules skipped. The next capture starts from the one without them. */
  async addNamed(
    target: CaptureTarget,
    captured: Captured,
    paths: readonly BytePath[],
  ): Promise<Captured> {
    const found = this.#found
    const named = found && addNamedPaths(found.root, { target, paths })
    if (found === undefined || named === undefined) return captured
    const { store, durable, hashThread } = this.#settings
    const [sink, packed] = [this.#newSink(), this.#packed]
    const { root } = target
    const { tree } = await storeNamed(named, { root, store, sink, durable, hashThread, packed })
    this.#found = { ...found, root: named.root }
    const files = describeFiles(tree, this.#found, packed)
    return { snapshot: { ...captured.snapshot, ...files }, lines: undefined }
  }

  /** The objects of the last capture that are still to be written with its record. */
  takeDeferred(tree: ObjectId): ObjectSink | undefined {
    const deferred = this.#deferred
    if (deferred?.tree !== tree) return undefined
    this.#deferred = undefined
    return deferred.sink
  }

  /** The changes that the last capture counted, if it was between these snapshots. */
  countsSince(since: ObjectId | undefined, tree: ObjectId): ChangeCounts | undefined {
    const counted = this.#counted
    return counted?.since === since && counted?.tree === tree ? counted.counts : undefined
  }

  /** Call when the last capture is recorded: from now on a ref keeps its objects. */
  keep(tree: ObjectId): void {
    if (this.#known?.snapshot?.tree !== tree) return
    this.#known = { ...this.#known, keptBy: tree, keptEpoch: this.#known.epoch }
  }

  close(): void {
    this.unwatch()
    this.#deferred?.sink.abandon()
    this.#settings.statWorker.close()
  }

  /** Skips a few changes: reading those files again next time costs less than writing the whole cache. */
  writeCache(): void {
    if (this.#known === undefined) return
    if (this.#unwritten <= MAX_UNWRITTEN && !this.#isCacheAged) return
    const table = saveStatCache(this.#cachePath, this.#known)
    if (table === undefined) return
    this.#packed = undefined
    if (this.#watch === undefined) this.#settings.statWorker.arm(table, this.#known.rootPath)
    this.#unwritten = 0
    this.#isCacheAged = false
  }

  #newSink(): ObjectSink {
    const { home, store, durable } = this.#settings
    const temporary = join(home, 'tmp', this.#project)
    return new ObjectSink(store, { temporary, durable })
  }

  #scan(
    target: CaptureTarget,
    { known, touches }: { known: CachedProject | undefined; touches: Touches | undefined },
    options: Pick<ScanOptions, 'isStored' | 'onFile' | 'onPending'>,
  ): Scanned {
    const all = { ...options, memory: known }
    if (this.#watch !== undefined && touches !== undefined) {
      const keptEpoch = known?.keptEpoch ?? -1
      return new Scan(target, { ...all, ...this.#watch.scanOptions(touches, keptEpoch) }).run()
    }
    const { statWorker } = this.#settings
    statWorker.begin()
    try {
      const countCleanFiles = this.#cleanFileCounter(known)
      const isSame = (node: Node) => statWorker.isSame(node)
      const unchangedIn = () => isSame
      const onFolder = () => false
      return new Scan(target, {
        ...all,
        countCleanFiles,
        unchangedIn,
        onFolder,
        statsFirst: false,
      }).run()
    } finally {
      statWorker.end()
    }
  }

  /** Counts the files of packed folders that are unchanged. Without a checkpoint that keeps the objects, no folder is. */
  #cleanFileCounter(known: CachedProject | undefined): ScanOptions['countCleanFiles'] {
    const packed = this.#packed
    const isKept = known !== undefined && known.keptEpoch >= 0
    const changed =
      packed !== undefined && isKept ? this.#settings.statWorker.complete() : undefined
    if (packed === undefined || changed === undefined) return () => undefined
    const isClean = packed.cleanFolderTest(changed)
    return (folder) => (folder.isPacked && isClean(folder) ? packed.tally(folder).files : undefined)
  }

  #recall(root: BytePath, knownTrees: readonly ObjectId[]): CachedProject | undefined {
    if (this.#known === undefined && !this.#isCacheRead) {
      const read = readStatCache(this.#cachePath, root)
      if (read !== undefined) this.#settings.statWorker.arm(read.packed.table, root)
      this.#known = read?.cached
      this.#packed = read?.packed
      this.#isCacheAged =
        read !== undefined &&
        !isAmong(knownTrees.slice(0, MAX_CHECKPOINTS_SINCE), read.cached.keptBy)
    }
    this.#isCacheRead = true
    const known = this.#known
    if (known === undefined || isAmong(knownTrees, known.keptBy)) return known
    // The checkpoint that kept these objects may be gone, so each object must be looked up.
    return { ...known, keptEpoch: -1 }
  }
}

function isAmong(trees: readonly ObjectId[], tree: ObjectId | undefined): boolean {
  return tree !== undefined && trees.includes(tree)
}
