// A project under watch: what a scan may leave out, and the look in the background that checks on it.
import { type BytePath, joinPath } from '../../model/index.js'
import { type ContentNode, type FolderNode, visitNodes } from '../capture/stat-cache/node.js'
import type { ScanOptions } from '../capture/scan/scan-types.js'
import type { CachedProject } from '../capture/stat-cache/stat-cache.js'
import { BACKGROUND_LOOK_MS, lookInBackground } from './background-look.js'
import type { EventQueue } from './event-queue.js'
import { type Activity, ProjectWatch, type WatchReport } from './project-watch.js'
import type { Touches } from './touches.js'

export type WatchedOptions = {
  readonly root: BytePath
  readonly events: EventQueue
  /** The project as the last capture left it; undefined while one is under way, and after one that failed. */
  readonly known: () => Pick<CachedProject, 'root' | 'snapshot' | 'keptBy'> | undefined
  /** Called when there is something new to say of the watch; undefined at its end. False: to be said again. */
  readonly tell: (report: WatchReport | undefined) => boolean
}

export class WatchedProject {
  readonly #watch: ProjectWatch
  readonly #timer: NodeJS.Timeout
  #look: Promise<void> | undefined
  #isLooking = false
  #isClosed = false
  readonly #options: WatchedOptions
  #told = ''

  constructor(options: WatchedOptions) {
    this.#options = options
    this.#watch = new ProjectWatch(options.root, options.events)
    this.#timer = setInterval(() => void this.scanAll(), BACKGROUND_LOOK_MS)
    this.#timer.unref()
  }

  take(): Promise<Touches | undefined> {
    return this.#watch.take()
  }

  /** The folder that was scanned must be the watched one: of another nothing is known. */
  isOf(root: FolderNode): boolean {
    return this.#watch.rootInode === root.ino
  }

  /** A save has been made; if there is something new to say of the watch, it is said. */
  tell(): void {
    const { folders: _, ...news } = this.#watch.report()
    const text = JSON.stringify(news)
    if (text !== this.#told && this.#options.tell(this.#watch.report())) this.#told = text
  }

  /** What was not touched needs no look, if a checkpoint holds it and it cannot change by itself. */
  scanOptions(
    touches: Touches,
    keptEpoch: number,
  ): Pick<ScanOptions, 'looksFirst' | 'onFolder' | 'sameIn' | 'quietFiles'> {
    return {
      looksFirst: true,
      onFolder: (path) => this.#watch.add(path),
      sameIn: (path) => touches.sameIn(path),
      quietFiles(folder, parent) {
        const { summary } = folder
        if (summary === undefined || summary.isLoud || summary.epoch > keptEpoch) return undefined
        return touches.isQuiet(joinPath(parent, folder.name)) ? summary.files : undefined
      },
    }
  }

  /**
   * The other names of files just found to have some are looked at by every save from now on: one that was changed
   * through another name has had no event. True if there are such, so that a save must go on once more.
   */
  joinLinks(linked: readonly ContentNode[], root: FolderNode): boolean {
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

  /** Looks at everything, in small steps; one look at a time. */
  scanAll(): Promise<void> {
    this.#look ??= this.#lookNow()
      // The next save looks everywhere itself, and says what is wrong there.
      .catch(() => this.#watch.distrust())
      .finally(() => (this.#look = undefined))
    return this.#look
  }

  /** A capture has failed: the nodes that are looked at are of no use any more. */
  endLook(): void {
    this.#isLooking = false
  }

  /** What was captured for something else than a checkpoint, or by a save that failed, waits for the next one too. */
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
    this.#options.tell(undefined)
  }

  async #lookNow(): Promise<void> {
    const { known, root: rootPath } = this.#options
    const nodes = () => known()?.root
    const root = nodes()
    if (root === undefined || !this.#watch.report().isWatching) return
    this.#isLooking = true
    // A capture that is under way has the nodes to itself; after it they are the same ones again.
    const pause = () =>
      new Promise<boolean>((resolve) => {
        const go = () => {
          if (this.#isClosed || !this.#isLooking) resolve(false)
          else if (nodes() === undefined) setTimeout(go, 20).unref()
          else resolve(nodes() === root)
        }
        setImmediate(go)
      })
    await lookInBackground({ root, rootPath, watch: this.#watch }, pause)
    this.tell()
  }
}
