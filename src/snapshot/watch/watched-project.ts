// A watched project: decides what a scan may skip, and runs the background scan that checks the watch.
import { type BytePath, joinPath } from '../../model/index.js'
import { type ContentNode, type FolderNode, visitNodes } from '../capture/stat-cache/node.js'
import type { ScanOptions } from '../capture/scan/scan-types.js'
import type { CachedProject } from '../capture/stat-cache/stat-cache.js'
import { BACKGROUND_SCAN_MS, scanInBackground } from './background-scan.js'
import type { EventQueue } from './event-queue.js'
import { type Activity, ProjectWatch, type WatchReport } from './project-watch.js'
import type { Touches } from './touches.js'

export type WatchedOptions = {
  readonly root: BytePath
  readonly events: EventQueue
  /** The nodes of the last capture; undefined during a capture, and after a failed one. */
  readonly known: () => Pick<CachedProject, 'root' | 'snapshot' | 'keptBy'> | undefined
  /** Called when the report changes, and with undefined when the watch ends. False: report it again later. */
  readonly report: (report: WatchReport | undefined) => boolean
}

export class WatchedProject {
  readonly #watch: ProjectWatch
  readonly #timer: NodeJS.Timeout
  #scan: Promise<void> | undefined
  #isScanning = false
  #isClosed = false
  readonly #options: WatchedOptions
  #lastReported = ''

  constructor(options: WatchedOptions) {
    this.#options = options
    this.#watch = new ProjectWatch(options.root, options.events)
    this.#timer = setInterval(() => void this.scanAll(), BACKGROUND_SCAN_MS)
    this.#timer.unref()
  }

  take(): Promise<Touches | undefined> {
    return this.#watch.take()
  }

  /** Whether the scanned folder is the watched one. */
  isRoot(root: FolderNode): boolean {
    return this.#watch.rootInode === root.ino
  }

  /** Call after each save. */
  reportNews(): void {
    const { folders: _, ...news } = this.#watch.report()
    const text = JSON.stringify(news)
    if (text !== this.#lastReported && this.#options.report(this.#watch.report()))
      this.#lastReported = text
  }

  /** An untouched folder is skipped if a checkpoint keeps it and nothing in it can change without an event. */
  scanOptions(
    touches: Touches,
    keptEpoch: number,
  ): Pick<ScanOptions, 'statsFirst' | 'onFolder' | 'unchangedIn' | 'countCleanFiles'> {
    return {
      statsFirst: true,
      onFolder: (path) => this.#watch.add(path),
      unchangedIn: (path) => touches.unchangedIn(path),
      countCleanFiles(folder, parent) {
        const { summary } = folder
        if (summary === undefined || summary.needsRescan || summary.epoch > keptEpoch)
          return undefined
        return touches.isClean(joinPath(parent, folder.name)) ? summary.files : undefined
      },
    }
  }

  /**
   * Marks the other hard links of these files, so that every save checks them: a change through another link gives no
   * event. True if any were found; then the save must scan again.
   */
  markHardLinks(linked: readonly ContentNode[], root: FolderNode): boolean {
    if (linked.length === 0) return false
    const inodes = new Set(linked.map(({ ino }) => ino))
    let isFound = false
    visitNodes(root, (node, folder) => {
      if (node.kind !== 'file' || node.isLinked || !inodes.has(node.ino)) return
      node.isLinked = true
      this.#watch.touch(folder, node.name)
      isFound = true
    })
    return isFound
  }

  /** Scans everything in small steps; joins a scan that is already running. */
  scanAll(): Promise<void> {
    this.#scan ??= this.#scanNow()
      // The next save does a full scan and reports the error.
      .catch(() => this.#watch.requireFullScan())
      .finally(() => (this.#scan = undefined))
    return this.#scan
  }

  /** Call when a capture failed: its nodes are no longer valid. */
  cancelScan(): void {
    this.#isScanning = false
  }

  /** Changes captured without a checkpoint, or by a failed save, still count as touched. */
  get activity(): Activity {
    const { isTouched, ...others } = this.#watch.activity
    const known = this.#options.known()
    const isKept = known?.keptBy !== undefined && known.keptBy === known.snapshot?.tree
    return { ...others, isTouched: isTouched || !isKept }
  }

  report(): WatchReport {
    return this.#watch.report()
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    this.#watch.close()
    this.#options.report(undefined)
  }

  async #scanNow(): Promise<void> {
    const { known, root: rootPath } = this.#options
    const nodes = () => known()?.root
    const root = nodes()
    if (root === undefined || !this.#watch.report().isWatching) return
    this.#isScanning = true
    // A running capture owns the nodes; afterwards they are the same objects again.
    const pause = () =>
      new Promise<boolean>((resolve) => {
        const go = () => {
          if (this.#isClosed || !this.#isScanning) resolve(false)
          else if (nodes() === undefined) setTimeout(go, 20).unref()
          else resolve(nodes() === root)
        }
        setImmediate(go)
      })
    await scanInBackground({ root, rootPath, watch: this.#watch }, pause)
    this.reportNews()
  }
}
