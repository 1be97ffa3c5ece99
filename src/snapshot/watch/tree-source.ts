// The source of events on macOS and Windows: one watch for the whole tree.
import { randomBytes } from 'node:crypto'
import { type FSWatcher, watch } from 'node:fs'
import {
  type BytePath,
  fsPath,
  makeId,
  nameOf,
  parentOf,
  pathText,
  ROOT,
} from '../../model/index.js'
import { temporaryName } from '../capture/capture-target.js'
import { Cookies } from './event-queue.js'
import type { EventSource, SourceListener } from './event-source.js'

export class TreeSource implements EventSource {
  readonly #root: BytePath
  readonly #listener: SourceListener
  /** In the project, because only there are they ordered with its events. Their names are never captured. */
  readonly #cookies: Cookies
  #watcher: FSWatcher | undefined

  constructor(root: BytePath, listener: SourceListener) {
    this.#root = root
    this.#listener = listener
    const tag = makeId(randomBytes)
    this.#cookies = new Cookies(pathText(root), (number) => temporaryName(tag, number))
  }

  get folders(): number {
    return this.#watcher === undefined ? 0 : 1
  }

  add(): boolean {
    if (this.#watcher !== undefined) return false
    const options = { persistent: false, recursive: true, encoding: 'latin1' } as const
    this.#watcher = watch(fsPath(this.#root), options, (_type, name) => this.#notify(name))
    this.#watcher.on('error', (error) => this.#listener.onFault(error))
    return true
  }

  /** Only dropping the root ends the single watch. */
  drop(path: BytePath): void {
    if (path === ROOT) this.close()
  }

  async drain(): Promise<boolean> {
    try {
      return await this.#cookies.wait()
    } finally {
      this.#cookies.remove()
    }
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
  }

  #notify(name: string | null): void {
    this.#listener.onCount()
    if (name === null) {
      this.#listener.onFault(new Error('An event had no name'))
      return
    }
    this.#cookies.notify(name)
    const path = name.replaceAll('\\', '/') as BytePath
    // A recursive watch does not report the kind of change.
    this.#listener.onEvent({ folder: parentOf(path), name: nameOf(path), isRename: true })
  }
}
