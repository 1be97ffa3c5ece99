// One capture of a project: scan, hash, build, store. What is known of the project stays in memory and in
// the stat cache, so that the next capture looks only at what changed.
import { join } from 'node:path'
import {
  type BytePath,
  type ChangeCounts,
  type ObjectId,
  type ProjectId,
  ROOT,
} from '../../model/index.js'
import { failpoint } from '../../system/index.js'
import { describeFiles, type Found, TreeBuilder } from './build-snapshot.js'
import type { Captured, CaptureWork } from './capture-types.js'
import type { CountedChanges } from './hash/change-tally.js'
import { expectSameRoot, replaced } from './capture-errors.js'
import { finishSnapshot } from './finish-snapshot.js'
import type { HashLanes } from './hash/hash-lane.js'
import { Hasher } from './hash/hasher.js'
import { type FolderNode, newFolder, type Node, totalLines } from './stat-cache/node.js'
import { addNamedPaths, storeNamed } from './scan/named-paths.js'
import { ProgressCounter } from './progress.js'
import type { PackedNodes } from './stat-cache/packed-nodes.js'
import { Scan } from './scan/scan.js'
import type { Scanned, ScanOptions } from './scan/scan-types.js'
import type { Site } from './capture-target.js'
import { hasLargeCache, type StatAhead } from './stat-cache/stat-worker-client.js'
import { type CachedProject, keepStatCache, readStatCache } from './stat-cache/stat-cache.js'
import { ObjectSink, type ObjectStore } from '../objects/object-store.js'
import type { EventQueue } from '../watch/event-queue.js'
import type { Touches } from '../watch/touches.js'
import type { WatchFolder } from '../watch/watch-folder.js'
import { noteWatch } from '../watch/watch-notes.js'
import { WatchedProject } from '../watch/watched-project.js'

export type CaptureSettings = {
  readonly home: string
  readonly store: ObjectStore
  readonly durable: boolean
  readonly lanes: HashLanes
  readonly statAhead: StatAhead
  /** What the watches of all projects share. */
  readonly events: EventQueue
  readonly watchFolder: WatchFolder
}

const MAX_UNWRITTEN = 100
/** Well before a prune removes the checkpoint that vouches for what the cache on disk calls kept. */
const MAX_CHECKPOINTS_SINCE = 12

export class ProjectCapture {
  readonly #settings: CaptureSettings
  readonly #project: ProjectId
  #known: CachedProject | undefined
  /** What of `#known` was read from the cache and not looked at since. */
  #packed: PackedNodes | undefined
  #isCacheRead = false
  /** Nodes that the cache on disk does not know as they are. */
  #unwritten = 0
  /** The checkpoint that vouches for the cache on disk is getting old, or is gone. */
  #isCacheAged = false
  #watch: WatchedProject | undefined
  #counted: CountedChanges | undefined
  /** The nodes of the last capture, with the paths that were named besides. */
  #found: Found | undefined
  #held: { readonly sink: ObjectSink; readonly tree: ObjectId } | undefined

  constructor(project: ProjectId, settings: CaptureSettings) {
    this.#project = project
    this.#settings = settings
  }

  get #cachePath(): string {
    return join(this.#settings.home, 'cache', this.#project)
  }

  /** The nodes of the last capture, with the paths that were named besides. */
  get root(): FolderNode {
    return this.#found?.root ?? newFolder(ROOT, { viaIndex: false })
  }

  /** From now on a capture looks only at what was touched. */
  watch(root: BytePath): void {
    const { events, watchFolder } = this.#settings
    this.#watch ??= new WatchedProject({
      root,
      events,
      known: () => this.#known,
      tell: (report) => noteWatch(watchFolder, this.#project, report),
    })
  }

  unwatch(): void {
    this.#watch?.close()
    this.#watch = undefined
  }

  get watched(): WatchedProject | undefined {
    return this.#watch
  }

  async capture(site: Site, work: CaptureWork): Promise<Captured> {
    const { held, holdObjects, report } = work
    this.#held?.sink.abandon()
    this.#held = undefined
    const known = this.#recall(site.root, held)
    // Nothing may fail between this and the next line: what was touched is told once.
    const touches = await this.#watch?.take()
    // The nodes are changed in place: if this fails half-way they are of no use any more.
    this.#known = this.#found = undefined
    const { store, durable, lanes } = this.#settings
    const sink = this.#newSink()
    const progress = new ProgressCounter(report)
    const onProgress = (files: number, bytes: number) => progress.stored(files, bytes)
    const { root, limits } = site
    const { maxFileBytes } = limits
    const hasher = new Hasher({ root, store, sink, durable, maxFileBytes, lanes, onProgress })
    // Counted is what came since the newest checkpoint: of anything else nobody asks.
    if (known?.snapshot?.tree !== held[0]) hasher.tally.giveUp()
    try {
      const memory = { known, touches }
      const scanned = this.#scan(site, memory, {
        isStored: (node) =>
          (known !== undefined && node.epoch <= known.keptEpoch) ||
          (node.id !== undefined && sink.has(node.id)),
        onFile: (count) => progress.scanned(count),
        onPending: (item) => hasher.add(item),
      })
      // Looked at now: the builder gives the root an id as soon as all contents have theirs.
      const hasSameFiles = scanned.root.id !== undefined
      const epoch = (known?.epoch ?? 0) + 1
      progress.toStore(scanned.pending.length)
      const builder = new TreeBuilder(scanned.root, sink, epoch)
      await Promise.race([hasher.finish(() => builder.advance()), progress.cancelled])
      if (touches !== undefined && this.#watch?.isOf(scanned.root) === false)
        throw replaced(site.root)
      expectSameRoot(site.root, scanned.root.ino)
      for (const node of scanned.pending) node.epoch = epoch
      this.#settings.statAhead.update(scanned.restamped)
      failpoint('capture:hashed')
      // Nothing came or went, and no mode is another.
      const hasSameModes = !scanned.haveModesChanged && !hasher.hasGivenUp
      const now = { known, builder, hasSameModes, hasSameFiles, store, packed: this.#packed }
      const { snapshot, modes } = finishSnapshot(scanned, now)
      if (holdObjects && sink.isSmall) this.#held = { sink, tree: snapshot.tree }
      else await sink.finish()
      failpoint('capture:stored')
      this.#known = {
        root: scanned.root,
        indexes: new Map(
          [...scanned.repositories].map(([path, tracking]) => [path, tracking.known]),
        ),
        rootPath: site.root,
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
      this.#watch?.tell()
      // A thread costs 10 MB, and a watched project is seldom looked at as a whole.
      if (this.#watch !== undefined) this.#settings.statAhead.close()
      if (held.includes(snapshot.tree)) this.keep(snapshot.tree)
      if (this.#watch?.joinLinks(scanned.linked, scanned.root) === true)
        return await this.capture(site, work)
      return { snapshot, lines: held.length === 0 ? totalLines(scanned.root) : undefined }
    } catch (error) {
      sink.abandon()
      this.#watch?.endLook()
      throw error
    } finally {
      hasher.close()
    }
  }

  /** The last capture with these paths, which its rules left out. The next capture builds on the one without them. */
  async addNamed(site: Site, captured: Captured, paths: readonly BytePath[]): Promise<Captured> {
    const found = this.#found
    const named = found && addNamedPaths(found.root, { site, paths })
    if (found === undefined || named === undefined) return captured
    const { store, durable, lanes } = this.#settings
    const [sink, packed] = [this.#newSink(), this.#packed]
    const { root } = site
    const { tree } = await storeNamed(named, { root, store, sink, durable, lanes, packed })
    this.#found = { ...found, root: named.root }
    const files = describeFiles(tree, this.#found, packed)
    return { snapshot: { ...captured.snapshot, ...files }, lines: undefined }
  }

  /** What the last capture left to be written with its record. */
  takeHeld(tree: ObjectId): ObjectSink | undefined {
    const held = this.#held
    if (held?.tree !== tree) return undefined
    this.#held = undefined
    return held.sink
  }

  /** What the last capture has counted on its way, if it was of these. */
  countsSince(since: ObjectId | undefined, tree: ObjectId): ChangeCounts | undefined {
    const counted = this.#counted
    return counted?.since === since && counted?.tree === tree ? counted.counts : undefined
  }

  /** The last capture is recorded: its objects are held by a ref from now on. */
  keep(tree: ObjectId): void {
    if (this.#known?.snapshot?.tree !== tree) return
    this.#known = { ...this.#known, keptBy: tree, keptEpoch: this.#known.epoch }
  }

  close(): void {
    this.unwatch()
    this.#held?.sink.abandon()
    this.#settings.statAhead.close()
  }

  /** Not for a handful of changes: reading those again next time costs less than writing everything now. */
  writeCache(): void {
    if (this.#known === undefined) return
    if (this.#unwritten <= MAX_UNWRITTEN && !this.#isCacheAged) return
    const table = keepStatCache(this.#cachePath, this.#known)
    if (table === undefined) return
    this.#packed = undefined
    if (this.#watch === undefined) this.#settings.statAhead.arm(table, this.#known.rootPath)
    this.#unwritten = 0
    this.#isCacheAged = false
  }

  #newSink(): ObjectSink {
    const { home, store, durable } = this.#settings
    const temporary = join(home, 'tmp', this.#project)
    return new ObjectSink(store, { temporary, durable })
  }

  #scan(
    site: Site,
    { known, touches }: { known: CachedProject | undefined; touches: Touches | undefined },
    options: Pick<ScanOptions, 'isStored' | 'onFile' | 'onPending'>,
  ): Scanned {
    const all = { ...options, memory: known }
    if (this.#watch !== undefined && touches !== undefined) {
      const keptEpoch = known?.keptEpoch ?? -1
      return new Scan(site, { ...all, ...this.#watch.scanOptions(touches, keptEpoch) }).run()
    }
    const { statAhead } = this.#settings
    statAhead.begin()
    try {
      const quietFiles = this.#judge(known)
      const isSame = (node: Node) => statAhead.isSame(node)
      const sameIn = () => isSame
      const onFolder = () => false
      return new Scan(site, { ...all, quietFiles, sameIn, onFolder, looksFirst: false }).run()
    } finally {
      statAhead.end()
    }
  }

  /** Nothing is sure unless a checkpoint holds the objects. */
  #judge(known: CachedProject | undefined): ScanOptions['quietFiles'] {
    const packed = this.#packed
    const isDoubtful = known === undefined || known.keptEpoch < 0
    const changed =
      packed === undefined || isDoubtful ? undefined : this.#settings.statAhead.complete()
    if (packed === undefined || changed === undefined) return () => undefined
    const isQuiet = packed.judge(changed)
    return (folder) => (folder.isPacked && isQuiet(folder) ? packed.tally(folder).files : undefined)
  }

  #recall(root: BytePath, held: readonly ObjectId[]): CachedProject | undefined {
    if (this.#known === undefined && !this.#isCacheRead) {
      if (hasLargeCache(this.#settings.home, this.#project)) this.#settings.statAhead.warmUp()
      const read = readStatCache(this.#cachePath, root)
      if (read !== undefined) this.#settings.statAhead.arm(read.packed.table, root)
      this.#known = read?.cached
      this.#packed = read?.packed
      this.#isCacheAged =
        read !== undefined && !isAmong(held.slice(0, MAX_CHECKPOINTS_SINCE), read.cached.keptBy)
    }
    this.#isCacheRead = true
    const known = this.#known
    if (known === undefined || isAmong(held, known.keptBy)) return known
    // Whatever held these objects may be gone, and they with it: each will be looked for.
    return { ...known, keptEpoch: -1 }
  }
}

function isAmong(trees: readonly ObjectId[], tree: ObjectId | undefined): boolean {
  return tree !== undefined && trees.includes(tree)
}
