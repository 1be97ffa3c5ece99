// The watch on one project. Before a save it says what was touched since the last one; whenever something may have
// been missed it says instead that nothing is known, and the save looks at everything (docs/watching.md).
import { type BigIntStats, lstatSync } from 'node:fs'
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
  /** False while the system does not let the project be watched: then nothing is known of it. */
  readonly isWatching: boolean
}

export type WatchReport = {
  readonly isWatching: boolean
  /** Why it is not, or why it last was not. */
  readonly doubt: Doubt | null
  readonly doubtAtMs: number | null
  /** How often a save had to look at everything after all. */
  readonly fullScans: number
  readonly folders: number
  /** Changes that no event told of, found by the look in the background. */
  readonly missed: number
  readonly lookedAtMs: number | null
}

type FolderIdentity = Pick<BigIntStats, 'ino' | 'birthtimeNs' | 'ctimeNs'>

/** How long a project is not watched after the system has refused. */
const RETRY_MS = 5 * 60_000

export class ProjectWatch {
  readonly #root: BytePath
  readonly #queue: EventQueue
  readonly #source: EventSource
  readonly #leaveQueue: () => void
  #touches = everything()
  #mounts: Mounts | undefined
  #folder: FolderIdentity | undefined
  /** What has cast doubt on the watch since the last save. */
  #doubt: Doubt | undefined
  #lastDoubt: { readonly doubt: Doubt; readonly atMs: number } | undefined
  /** By a clock that nobody sets, as all that is waited for here. */
  #restsUntilMs = 0
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
        // Whatever bears the name now is not what was watched under it.
        if (isRename) this.#lose(joinPath(folder, name))
      },
      onFault: () => this.#cast('lost-watch'),
    }
    const Source = process.platform === 'linux' ? FolderSource : TreeSource
    this.#source = new Source(root, listener)
    this.#leaveQueue = queue.whenOverflowed(() => this.#cast('overflow'))
  }

  /** What was touched since the last call; undefined while the project cannot be watched. */
  async take(): Promise<Touches | undefined> {
    if (performance.now() < this.#restsUntilMs) return undefined
    this.#restsUntilMs = 0
    if (this.#source.folders > 0 && !(await this.settle())) this.#cast('no-cookie')
    this.#checkPlace()
    if (this.#doubt !== undefined) this.#beginAnew(this.#doubt)
    if (this.#source.settle === undefined) this.#listen()
    if (this.#restsUntilMs > 0) return undefined
    const touches = this.#touches
    this.#touches = new Touches()
    return touches
  }

  /** Every event of what happened before the call has been told when it returns; false if that is not sure. */
  settle(): Promise<boolean> {
    return this.#source.settle?.() ?? this.#queue.settle()
  }

  /** To be called before a folder is looked at. True if it is watched only from now on. */
  add(path: BytePath): boolean {
    if (this.#restsUntilMs > 0) return false
    try {
      return this.#source.add(path)
    } catch (error) {
      if (isWatchLimit(error)) this.#rest('watch-limit')
      else if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'ELOOP', 'ENAMETOOLONG'))
        this.#touches.lose(path)
      else throw error
      return false
    }
  }

  /** Of the folder that is watched. */
  get rootInode(): bigint | undefined {
    return this.#folder?.ino
  }

  touch(folder: BytePath, name: BytePath): void {
    this.#touches.add(folder, name, { hasNewNames: false })
  }

  /** Something was found that the system did not report. */
  noteMissed(folder: BytePath, name: BytePath): void {
    this.#missed += 1
    this.#touches.add(folder, name, { hasNewNames: true })
    this.#lose(joinPath(folder, name))
  }

  /** The next save looks at everything. */
  distrust(): void {
    this.#cast('lost-watch')
  }

  noteLooked(): void {
    this.#lookedAtMs = Date.now()
  }

  /** Whether a change of this name has been told of and waits for the next save. */
  isTouched(folder: BytePath, name: BytePath): boolean {
    return this.#doubt !== undefined || this.#touches.has(folder, name)
  }

  /** For who saves when a folder falls quiet. */
  get activity(): Activity {
    const isTouched = this.#doubt !== undefined || !this.#touches.isEmpty
    const isWatching = this.#restsUntilMs === 0
    return { isTouched, quietMs: performance.now() - this.#lastEventMs, isWatching }
  }

  report(): WatchReport {
    return {
      isWatching: this.#restsUntilMs === 0,
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

  /** All that is known of a name that may have become another's. */
  #lose(path: BytePath): void {
    this.#source.drop(path)
    this.#touches.lose(path)
  }

  #cast(doubt: Doubt): void {
    this.#doubt ??= doubt
  }

  #listen(): void {
    try {
      this.#queue.listen()
    } catch (error) {
      if (!isWatchLimit(error)) throw error
      this.#rest('watch-limit')
    }
  }

  /** The path must lead to the folder that is watched, and to the same file systems. */
  #checkPlace(): void {
    const mounts = mountsOf(this.#root)
    const folder = identityOf(this.#root)
    if (this.#mounts !== undefined && this.#mounts.key !== mounts.key) this.#cast('mount-changed')
    if (this.#folder !== undefined && isAnother(this.#folder, folder)) this.#cast('folder-replaced')
    this.#mounts = mounts
    this.#folder = folder
    if (mounts.remote !== undefined) this.#rest('not-watchable')
  }

  #beginAnew(doubt: Doubt): void {
    this.#note(doubt)
    this.#source.drop(ROOT)
    this.#touches = everything()
  }

  /** The system does not let us watch: saves look at everything until it is tried again. */
  #rest(doubt: Doubt): void {
    this.#note(doubt)
    this.#source.drop(ROOT)
    this.#touches = everything()
    this.#restsUntilMs = performance.now() + RETRY_MS
  }

  #note(doubt: Doubt): void {
    this.#doubt = undefined
    this.#fullScans += 1
    this.#lastDoubt = { doubt, atMs: Date.now() }
  }
}

/** Undefined where there is none, or where nobody can look: the scan comes next, and says what is wrong. */
function identityOf(path: BytePath): FolderIdentity | undefined {
  try {
    return lstatSync(fsPath(path), { bigint: true, throwIfNoEntry: false })
  } catch (error) {
    if (hasCode(error, 'ENOTDIR', 'ELOOP', 'EACCES')) return undefined
    throw error
  }
}

/**
 * A new folder often has the inode of one that was removed, and of that removal the kernel tells under the name by which
 * this thread first watched the folder, which need not be the project's. Where a file system keeps no time of birth, it
 * is none or that of the last change.
 */
function isAnother(before: FolderIdentity, now: FolderIdentity | undefined): boolean {
  if (before.ino !== now?.ino) return true
  const isBirthKnown = [before, now].some(({ birthtimeNs, ctimeNs }) => birthtimeNs !== ctimeNs)
  return isBirthKnown && before.birthtimeNs !== now.birthtimeNs
}

function everything(): Touches {
  const touches = new Touches()
  touches.lose(ROOT)
  return touches
}
