// One capture of a project: scan, hash, build, store. What is known of the project stays in memory and in
// the stat cache, so that the next capture looks only at what changed.
import { mkdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type BytePath,
  type ObjectId,
  type ProjectId,
  ROOT,
  type Snapshot,
} from '../model/index.js'
import { failpoint } from '../system/index.js'
import { buildSnapshotTree, describeSnapshot } from './capture/build-snapshot.js'
import { Hasher } from './capture/hasher.js'
import { type FolderNode, newFolder, visitNodes } from './capture/node.js'
import { type CaptureProgress, ProgressCounter } from './capture/progress.js'
import { Scan, type Scanned, type ScanOptions } from './capture/scan.js'
import type { Site } from './capture/site.js'
import type { StatAhead } from './capture/stat-ahead.js'
import { type CachedProject, readStatCache, writeStatCache } from './capture/stat-cache.js'
import { ObjectSink, type ObjectStore } from './objects/object-store.js'

export type Captured = {
  readonly snapshot: Snapshot
  /** Lines of all files, if every one of them was read just now. */
  readonly lines: number | undefined
}

export type CaptureSettings = {
  readonly home: string
  readonly store: ObjectStore
  readonly durable: boolean
  readonly hashThreadUrl: URL
  readonly statAhead: StatAhead
}

const MAX_UNWRITTEN = 100
const LARGE_CACHE_BYTES = 200_000

export class ProjectCapture {
  readonly #settings: CaptureSettings
  readonly #project: ProjectId
  #known: CachedProject | undefined
  #isCacheRead = false
  /** Nodes that the cache on disk does not know as they are. */
  #unwritten = 0

  constructor(project: ProjectId, settings: CaptureSettings) {
    this.#project = project
    this.#settings = settings
  }

  /** The nodes of the last capture. */
  get root(): FolderNode {
    return this.#known?.root ?? newFolder(ROOT, { viaIndex: false })
  }

  /** `held` are snapshots of the project's newest checkpoints: what they hold is surely in the store. */
  async capture(
    site: Site,
    held: readonly ObjectId[],
    report: (progress: CaptureProgress) => void,
  ): Promise<Captured> {
    const known = this.#recall(site.root, held)
    // The nodes are changed in place: if this fails half-way they are of no use any more.
    this.#known = undefined
    const { store, durable, home } = this.#settings
    const sink = new ObjectSink(store, { temporary: join(home, 'tmp', this.#project), durable })
    const progress = new ProgressCounter(report)
    const onProgress = (files: number, bytes: number) => progress.stored(files, bytes)
    const { hashThreadUrl } = this.#settings
    const hasher = new Hasher({ store, sink, durable, hashThreadUrl, onProgress })
    try {
      const scanned = this.#scan(site, {
        memory: known,
        isStored: (node) =>
          (known !== undefined && node.epoch <= known.keptEpoch) ||
          (node.id !== undefined && store.has(node.id)),
        onFile: (count) => progress.scanned(count),
        onPending: (item) => hasher.add(item),
      })
      const epoch = (known?.epoch ?? 0) + 1
      progress.toStore(scanned.pending.length)
      await hasher.finish()
      for (const { node } of scanned.pending) node.epoch = epoch
      this.#settings.statAhead.update(scanned.restamped)
      failpoint('capture:hashed')
      const { snapshot, modes } = this.#finish(scanned, { known, sink, epoch, hasher })
      await sink.finish()
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
      this.#unwritten += scanned.newsCount
      if (held.includes(snapshot.tree)) this.keep(snapshot.tree)
      return { snapshot, lines: held.length === 0 ? totalLines(scanned.root) : undefined }
    } catch (error) {
      sink.abandon()
      throw error
    } finally {
      await hasher.close()
    }
  }

  /** The last capture is recorded: its objects are held by a ref from now on. */
  keep(tree: ObjectId): void {
    if (this.#known?.snapshot?.tree !== tree) return
    this.#known = { ...this.#known, keptBy: tree, keptEpoch: this.#known.epoch }
  }

  close(): void {
    this.#settings.statAhead.close()
  }

  /** Not for a handful of changes: reading those again next time costs less than writing everything now. */
  writeCache(): void {
    if (this.#known === undefined || this.#unwritten <= MAX_UNWRITTEN) return
    const folder = join(this.#settings.home, 'cache')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    const path = join(folder, this.#project)
    // Whatever else stands there is not ours to keep: the cache is derived.
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) rmSync(path, { recursive: true })
    const table = writeStatCache(path, this.#known)
    this.#settings.statAhead.arm(table, this.#known.rootPath)
    this.#unwritten = 0
  }

  #scan(site: Site, options: Omit<ScanOptions, 'isSame'>): Scanned {
    const { statAhead } = this.#settings
    statAhead.begin()
    try {
      return new Scan(site, { ...options, isSame: (node) => statAhead.isSame(node) }).run()
    } finally {
      statAhead.end()
    }
  }

  #recall(root: BytePath, held: readonly ObjectId[]): CachedProject | undefined {
    if (this.#known === undefined && !this.#isCacheRead) {
      const path = join(this.#settings.home, 'cache', this.#project)
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (size > LARGE_CACHE_BYTES) this.#settings.statAhead.warmUp()
      const read = readStatCache(path, root)
      if (read !== undefined) this.#settings.statAhead.arm(read.table, root)
      this.#known = read?.cached
    }
    this.#isCacheRead = true
    const known = this.#known
    if (known === undefined || (known.keptBy !== undefined && held.includes(known.keptBy)))
      return known
    // Whatever held these objects may be gone, and they with it: each will be looked for.
    return { ...known, keptEpoch: -1 }
  }

  #finish(
    scanned: Scanned,
    now: { known: CachedProject | undefined; sink: ObjectSink; epoch: number; hasher: Hasher },
  ): { readonly snapshot: Snapshot; readonly modes: ObjectId | undefined } {
    const { store } = this.#settings
    const { known, sink, epoch, hasher } = now
    const hasSameModes = !scanned.haveModesChanged && !hasher.hasGivenUp
    const isSame = scanned.root.id !== undefined && hasSameModes
    if (isSame && known?.snapshot !== undefined && store.has(known.snapshot.tree)) {
      return { snapshot: describeSnapshot(known.snapshot.tree, scanned), modes: known.modes }
    }
    const canReuse = hasSameModes && known?.modes !== undefined && store.has(known.modes)
    const parts = buildSnapshotTree(scanned.root, sink, {
      epoch,
      modes: canReuse ? known.modes : undefined,
    })
    return { snapshot: describeSnapshot(parts.tree, scanned), modes: parts.modes }
  }
}

function totalLines(root: FolderNode): number | undefined {
  let total: number | undefined = 0
  visitNodes(root, (node) => {
    if (node.kind !== 'file' && node.kind !== 'link') return
    total = total === undefined || node.lines === undefined ? undefined : total + node.lines
  })
  return total
}
