// The watch on one project. Before a save it reports what was touched since the last one. Whenever an event may have been
// missed, it reports everything as touched, and the save does a full scan (docs/internals/watching.md).
import { type BigIntStats, lstatSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { type BytePath, fsPath, hasCode, joinPath, ROOT } from '../../model/index.js'
import { type EventQueue, isWatchLimit } from './event-queue.js'
import { type EventSource, FolderSource, type SourceListener } from './event-source.js'
import { type Mounts, mountsOf } from './mounts.js'
import { Touches } from './touches.js'
import { TreeSource } from './tree-source.js'

/** Why events may have been missed, or why there are none. */
export type Doubt =
  | 'overflow'
  | 'no-cookie'
  | 'lost-watch'
  | 'folder-replaced'
  | 'mount-changed'
  | 'watch-limit'
  | 'not-watchable'

export type Activity = {
  /** Something was touched since the last checkpoint. */
  readonly isTouched: boolean
  /** Since the last event, or since the watch began. */
  readonly quietMs: number
  /** False while the system refuses to watch the project. */
  readonly isWatching: boolean
}

export type WatchReport = {
  readonly isWatching: boolean
  /** Why the project is not watched, or why the last full scan was needed. */
  readonly doubt: Doubt | null
  readonly doubtAtMs: number | null
  /** How many saves needed a full scan. */
  readonly fullScans: number
  readonly folders: number
  /** Changes without an event, found by the background scan. */
  readonly missed: number
  readonly lookedAtMs: number | null
}

type FolderIdentity = Pick<BigIntStats, 'ino' | 'birthtimeNs' | 'ctimeNs'>

/** How long to wait after the system refused a watch. */
const RETRY_MS = 5 * 60_000

export class ProjectWatch {
  readonly #root: BytePath
  readonly #queue: EventQueue
  readonly #source: EventSource
  readonly #leaveQueue: () => void
  #touches = touchEverything()
  #mounts: Mounts | undefined
  #folder: FolderIdentity | undefined
  /** Why the watch is in doubt since the last save. */
  #doubt: Doubt | undefined
  #lastDoubt: { readonly doubt: Doubt; readonly atMs: number } | undefined
  /** By a monotonic clock. */
  #suspendedUntilMs = 0
  #fullScans = 0
  #missed = 0
  #lookedAtMs: number | null = null
  #lastEventMs = performance.now()

  constructor(root: BytePath, queue: EventQueue) {
    this.#root = root
    this.#queue = queue
    const listener: SourceListener = {
      onCount: () => queue.count(),
      onEvent: ({ folder, name, isRename }) => {
        this.#lastEventMs = performance.now()
        this.#touches.add(folder, name, { hasNewNames: isRename })
        // The name now refers to another file or folder than the watched one.
        if (isRename) this.#invalidate(joinPath(folder, name))
      },
      onFault: () => this.#raiseDoubt('lost-watch'),
    }
    const Source = process.platform === 'linux' ? FolderSource : TreeSource
    this.#source = new Source(root, listener)
    this.#leaveQueue = queue.onOverflow(() => this.#raiseDoubt('overflow'))
  }

  /** The names touched since the last call; undefined while the project cannot be watched. */
  async take(): Promise<Touches | undefined> {
    if (performance.now() < this.#suspendedUntilMs) return undefined
    this.#suspendedUntilMs = 0
    if (this.#source.folders > 0 && !(await this.drain())) this.#raiseDoubt('no-cookie')
    this.#checkRoot()
    if (this.#doubt !== undefined) this.#restart(this.#doubt)
    try {
      if (this.#source.drain === undefined) this.#queue.listen()
    } catch (error) {
      if (!isWatchLimit(error)) throw error
      this.#suspend('watch-limit')
    }
    if (this.#suspendedUntilMs > 0) return undefined
    const touches = this.#touches
    this.#touches = new Touches()
    return touches
  }

  /** Waits until all events of earlier changes have been reported. False if that is uncertain. */
  drain(): Promise<boolean> {
    return this.#source.drain?.() ?? this.#queue.drain()
  }

  /** Call before a folder is scanned. True if the watch on it has just begun. */
  add(path: BytePath): boolean {
    if (this.#suspendedUntilMs > 0) return false
    try {
      return this.#source.add(path)
    } catch (error) {
      if (isWatchLimit(error)) this.#suspend('watch-limit')
      else if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'))
        this.#touches.invalidate(path)
      else throw error
      return false
    }
  }

  get rootInode(): bigint | undefined {
    return this.#folder?.ino
  }

  touch(folder: BytePath, name: BytePath): void {
    this.#touches.add(folder, name, { hasNewNames: false })
  }

  /** Records a change that had no event. */
  noteMissed(folder: BytePath, name: BytePath): void {
    this.#missed += 1
    this.#touches.add(folder, name, { hasNewNames: true })
    this.#invalidate(joinPath(folder, name))
  }

  /** The next save does a full scan. */
  requireFullScan(): void {
    this.#raiseDoubt('lost-watch')
  }

  noteScanned(): void {
    this.#lookedAtMs = Date.now()
  }

  /** Whether a change of this name was reported and waits for the next save. */
  isTouched(folder: BytePath, name: BytePath): boolean {
    return this.#doubt !== undefined || this.#touches.has(folder, name)
  }

  get activity(): Activity {
    const isTouched = this.#doubt !== undefined || !this.#touches.isEmpty
    const isWatching = this.#suspendedUntilMs === 0
    return { isTouched, quietMs: performance.now() - this.#lastEventMs, isWatching }
  }

  report(): WatchReport {
    return {
      isWatching: this.#suspendedUntilMs === 0,
      doubt: this.#lastDoubt?.doubt ?? null,
      doubtAtMs: this.#lastDoubt?.atMs ?? null,
      fullScans: this.#fullScans,
      folders: this.#source.folders,
      missed: this.#missed,
      lookedAtMs: this.#lookedAtMs,
    }
  }

  close(): void {
    this.#leaveQueue()
    this.#source.close()
  }

  /** Forgets a name that may refer to another file or folder now. */
  #invalidate(path: BytePath): void {
    this.#source.drop(path)
    this.#touches.invalidate(path)
  }

  #raiseDoubt(doubt: Doubt): void {
    this.#doubt ??= doubt
  }

  /** Checks that the path leads to the watched folder, on the same file systems. */
  #checkRoot(): void {
    const mounts = mountsOf(this.#root)
    const folder = identityOf(this.#root)
    if (this.#mounts !== undefined && this.#mounts.key !== mounts.key)
      this.#raiseDoubt('mount-changed')
    if (this.#folder !== undefined && isAnother(this.#folder, folder))
      this.#raiseDoubt('folder-replaced')
    this.#mounts = mounts
    this.#folder = folder
    if (mounts.remote !== undefined) this.#suspend('not-watchable')
  }

  #restart(doubt: Doubt): void {
    this.#doubt = undefined
    this.#fullScans += 1
    this.#lastDoubt = { doubt, atMs: Date.now() }
    this.#source.drop(ROOT)
    this.#touches = touchEverything()
  }

  /** The system refuses to watch: saves do full scans until the next attempt. */
  #suspend(doubt: Doubt): void {
    this.#restart(doubt)
    this.#suspendedUntilMs = performance.now() + RETRY_MS
  }
}

/** Undefined if it is missing or inaccessible: the scan comes next and reports the error. */
function identityOf(path: BytePath): FolderIdentity | undefined {
  return ifExists(() => lstatSync(fsPath(path), { bigint: true }), 'ELOOP', 'EACCES')
}

/**
 * A new folder often gets the inode of a removed one. The kernel reports that removal under the path by which this thread
 * first watched the folder, which may belong to another project, so compare the birth time too. A file system without
 * birth times reports zero or the ctime.
 */
function isAnother(before: FolderIdentity, now: FolderIdentity | undefined): boolean {
  if (before.ino !== now?.ino) return true
  const isBirthKnown = [before, now].some(({ birthtimeNs, ctimeNs }) => birthtimeNs !== ctimeNs)
  return isBirthKnown && before.birthtimeNs !== now.birthtimeNs
}

function touchEverything(): Touches {
  const touches = new Touches()
  touches.invalidate(ROOT)
  return touches
}
