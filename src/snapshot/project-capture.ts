// One capture of a project: scan, hash, build, store. What is known of the project stays in memory and in
// the stat cache, so that the next capture looks only at what changed.
import { mkdirSync } from 'node:fs'
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
import { hashPending } from './capture/hash-files.js'
import { HashPool } from './capture/hash-pool.js'
import { type FolderNode, newFolder, nodesBelow } from './capture/node.js'
import { Scan, type Scanned } from './capture/scan.js'
import type { Site } from './capture/site.js'
import { type CachedProject, readStatCache, writeStatCache } from './capture/stat-cache.js'
import { ObjectSink, type ObjectStore } from './objects/object-store.js'

export type CaptureProgress = {
  readonly phase: 'scan' | 'store'
  readonly files: number
  readonly bytes: number
  readonly of: number
}

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
}

const PROGRESS_EVERY_MS = 50

export class ProjectCapture {
  readonly #settings: CaptureSettings
  readonly #project: ProjectId
  #known: CachedProject | undefined
  #isCacheRead = false
  #isCacheStale = false

  constructor(project: ProjectId, settings: CaptureSettings) {
    this.#project = project
    this.#settings = settings
  }

  /** The nodes of the last capture. */
  get root(): FolderNode {
    return this.#known?.root ?? newFolder(ROOT, { viaIndex: false })
  }

  /** `base` is the snapshot of the project's newest checkpoint: what it holds is surely in the store. */
  async capture(
    site: Site,
    base: ObjectId | undefined,
    report: (progress: CaptureProgress) => void,
  ): Promise<Captured> {
    const known = this.#recall(site.root, base)
    // The nodes are changed in place: if this fails half-way they are of no use any more.
    this.#known = undefined
    const { store, durable, home } = this.#settings
    const sink = new ObjectSink(store, { temporary: join(home, 'tmp', this.#project), durable })
    let pool: HashPool | undefined
    const startPool = () => (pool ??= new HashPool(this.#settings.hashThreadUrl, store.folder))
    try {
      const progress = throttled(report)
      const onFile = (files: number) => progress({ phase: 'scan', files, bytes: 0, of: files })
      const scanned = new Scan(site, {
        memory: known,
        isStored: (id) => store.has(id),
        onFile,
      }).run()
      const of = scanned.pending.length
      let files = 0
      let bytes = 0
      const onProgress = (moreFiles: number, moreBytes: number) => {
        files += moreFiles
        bytes += moreBytes
        progress({ phase: 'store', files, bytes, of })
      }
      await hashPending(scanned.pending, { store, sink, durable, startPool, onProgress })
      failpoint('capture:hashed')
      const snapshot = this.#finish(scanned, { known, sink })
      await sink.finish(pool === undefined ? undefined : (objects) => startPool().compress(objects))
      failpoint('capture:stored')
      this.#known = { ...scanned, rootPath: site.root, snapshot, keptBy: known?.keptBy }
      this.#isCacheStale = true
      return { snapshot, lines: base === undefined ? totalLines(scanned.root) : undefined }
    } catch (error) {
      sink.abandon()
      throw error
    } finally {
      await pool?.close()
    }
  }

  /** The last capture is recorded: its objects are held by a ref from now on. */
  keep(tree: ObjectId): void {
    if (this.#known?.snapshot?.tree !== tree) return
    for (const [, node] of nodesBelow(this.#known.root)) node.kept = true
    this.#known.root.kept = true
    this.#known = { ...this.#known, keptBy: tree }
  }

  writeCache(): void {
    if (!this.#isCacheStale || this.#known === undefined) return
    const folder = join(this.#settings.home, 'cache')
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    writeStatCache(join(folder, this.#project), this.#known)
    this.#isCacheStale = false
  }

  #recall(root: BytePath, base: ObjectId | undefined): CachedProject | undefined {
    if (this.#known === undefined && !this.#isCacheRead) {
      this.#known = readStatCache(join(this.#settings.home, 'cache', this.#project), root)
    }
    this.#isCacheRead = true
    const known = this.#known
    if (known !== undefined && (base === undefined || known.keptBy !== base)) {
      // Whatever kept these objects may be gone, and they with it: each is looked for.
      for (const [, node] of nodesBelow(known.root)) node.kept = false
      known.root.kept = false
    }
    return known
  }

  #finish(
    scanned: Scanned,
    { known, sink }: { known: CachedProject | undefined; sink: ObjectSink },
  ): Snapshot {
    const last = known?.snapshot
    const isSame = scanned.root.id !== undefined && !scanned.haveModesChanged
    if (isSame && last !== undefined && this.#settings.store.has(last.tree)) return last
    return describeSnapshot(buildSnapshotTree(scanned.root, sink), scanned)
  }
}

function totalLines(root: FolderNode): number | undefined {
  let total = 0
  for (const [, node] of nodesBelow(root)) {
    if (node.kind !== 'file' && node.kind !== 'link') continue
    if (node.lines === undefined) return undefined
    total += node.lines
  }
  return total
}

function throttled(
  report: (progress: CaptureProgress) => void,
): (progress: CaptureProgress) => void {
  let next = Date.now() + PROGRESS_EVERY_MS
  let skipped = 0
  return (progress) => {
    // The clock is looked at now and then: this is called for every file.
    if (++skipped < 100 && progress.phase === 'scan') return
    skipped = 0
    const now = Date.now()
    if (now < next) return
    next = now + PROGRESS_EVERY_MS
    report(progress)
  }
}
