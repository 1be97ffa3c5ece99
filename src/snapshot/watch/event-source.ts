// The source of events on Linux: one watch per folder. All share one kernel queue, so events are ordered across folders.
import { type FSWatcher, watch } from 'node:fs'
import { type BytePath, fsPath, joinPath, nameOf, parentOf, ROOT } from '../../model/index.js'

export type SourceEvent = {
  /** Relative to the project. */
  readonly folder: BytePath
  readonly name: BytePath
  /** False if the name still refers to the same file: only its content or mode may have changed. */
  readonly isRename: boolean
}

export type SourceListener = {
  /** Called for every event, even of folders that are no longer watched. */
  onCount(): void
  onEvent(event: SourceEvent): void
  /** From now on, events may be missed. */
  onFault(error: unknown): void
}

export type EventSource = {
  /** Starts a watch on a folder; false if there is one. Throws the system's error. */
  add(path: BytePath): boolean
  /** Ends the watches on a folder and everything below. */
  drop(path: BytePath): void
  readonly folders: number
  /** Like EventQueue.drain, for a source with its own event order. */
  drain?(): Promise<boolean>
  close(): void
}

type Watched = {
  readonly path: BytePath
  watcher: FSWatcher | undefined
  readonly inside: Map<string, Watched>
}

/**
 * Closing a watch adds an event to the kernel's queue that Node does not report. Close only this many at a time, so that
 * they do not fill the queue.
 */
const CLOSED_AT_ONCE = 256

export class FolderSource implements EventSource {
  readonly #root: BytePath
  readonly #listener: SourceListener
  #tree: Watched = newWatched(ROOT)
  #folders = 0
  /** Closed after the current burst: their uncounted events could hide an overflow. */
  readonly #retired: FSWatcher[] = []

  constructor(root: BytePath, listener: SourceListener) {
    this.#root = root
    this.#listener = listener
  }

  get folders(): number {
    return this.#folders
  }

  add(path: BytePath): boolean {
    const place = this.#placeOf(path)
    if (place.watcher !== undefined) return false
    // Without a watch on this folder, moves of its subfolders went unreported.
    for (const name of place.inside.keys()) this.drop(joinPath(path, name))
    place.watcher = this.#watch(place)
    this.#folders += 1
    return true
  }

  drop(path: BytePath): void {
    const names = namesOf(path)
    const last = names.pop()
    let above: Watched | undefined = this.#tree
    for (const name of names) above = above?.inside.get(name)
    const place = last === undefined ? above : above?.inside.get(last)
    if (place === undefined) return
    if (last === undefined) this.#tree = newWatched(ROOT)
    else above?.inside.delete(last)
    if (this.#retired.length === 0) setImmediate(() => this.#closeRetired())
    this.#retire(place)
  }

  close(): void {
    this.drop(ROOT)
  }

  #watch(place: Watched): FSWatcher {
    const { path } = place
    const absolute = path === ROOT ? this.#root : `${this.#root}/${path}`
    const options = { persistent: false, encoding: 'latin1' } as const
    const watcher = watch(fsPath(absolute), options, (type, name) => {
      this.#listener.onCount()
      if (place.watcher !== watcher) return
      const isRename = type === 'rename'
      // An event of the folder itself has the folder's own name, like an event of an entry.
      if (isRename && name === nameOf((path || this.#root) as BytePath)) this.#onSelf(path)
      if (name !== null) this.#listener.onEvent({ folder: path, name: name as BytePath, isRename })
    })
    watcher.on('error', (error) => this.#listener.onFault(error))
    return watcher
  }

  #onSelf(path: BytePath): void {
    if (path === ROOT) this.#listener.onFault(new Error('The folder was moved or removed'))
    else this.#listener.onEvent({ folder: parentOf(path), name: nameOf(path), isRename: true })
  }

  #placeOf(path: BytePath): Watched {
    let place = this.#tree
    for (const name of namesOf(path)) {
      const next = place.inside.get(name) ?? newWatched(joinPath(place.path, name))
      place.inside.set(name, next)
      place = next
    }
    return place
  }

  #retire(place: Watched): void {
    for (const inner of place.inside.values()) this.#retire(inner)
    if (place.watcher === undefined) return
    this.#retired.push(place.watcher)
    place.watcher = undefined
    this.#folders -= 1
  }

  #closeRetired(): void {
    for (const watcher of this.#retired.splice(0, CLOSED_AT_ONCE)) watcher.close()
    if (this.#retired.length > 0) setImmediate(() => this.#closeRetired())
  }
}

function newWatched(path: BytePath): Watched {
  return { path, watcher: undefined, inside: new Map() }
}

function namesOf(path: BytePath): string[] {
  return path === ROOT ? [] : path.split('/')
}
