// The one queue that all watches of a thread share: whether the kernel has thrown events away, and whether all that
// came before a moment have arrived. An overflow is silent, so a drain that comes near the queue's length counts as
// one.
import { type FSWatcher, readFileSync, watch } from 'node:fs'
import { hasCode } from '../../model/index.js'
import { Cookies, NO_PLACE } from './cookies.js'
import type { WatchFolder } from './watch-folder.js'

const DEFAULT_QUEUE = 16_384

export class EventQueue {
  readonly #folder: WatchFolder
  readonly #safeBurst: number
  readonly #cookies: Cookies
  #watcher: FSWatcher | undefined
  #burst = 0
  readonly #onOverflow = new Set<() => void>()

  /** `folder`: for cookies. */
  constructor(folder: WatchFolder) {
    this.#folder = folder
    this.#safeBurst = queueLength() / 2
    this.#cookies = new Cookies(folder.path, (number) => `cookie-${number}`)
  }

  /** Returns what takes it back. */
  whenOverflowed(tell: () => void): () => void {
    this.#onOverflow.add(tell)
    return () => void this.#onOverflow.delete(tell)
  }

  /** One event has come. All of a burst come in one turn of the event loop. */
  count(): void {
    if (this.#burst === 0) setImmediate(() => (this.#burst = 0))
    this.#burst += 1
    if (this.#burst < this.#safeBurst) return
    for (const tell of this.#onOverflow) tell()
  }

  /**
   * Cookies are heard of when it returns; false if none can be made now. Throws where the system has no watch for them:
   * without it all others are of no use, so it comes first.
   */
  listen(): boolean {
    if (this.#watcher !== undefined) return true
    if (!this.#hasFolder()) return false
    try {
      this.#watcher = watch(this.#folder.path, { persistent: false }, (_type, name) => {
        this.count()
        this.#cookies.hear(name)
      })
    } catch (error) {
      if (!isWatchLimit(error) && hasCode(error, 'ENOENT', ...NO_PLACE)) return false
      throw error
    }
    this.#watcher.on('error', () => this.close())
    return true
  }

  /** Every event of what happened before the call has been told when it returns. False if that cannot be made sure. */
  async settle(): Promise<boolean> {
    try {
      if (!this.listen()) return false
    } catch (error) {
      if (isWatchLimit(error)) return false
      throw error
    }
    if (await this.#cookies.wait()) return true
    // Perhaps the folder was removed: the next one begins anew.
    this.close()
    return false
  }

  close(): void {
    this.#watcher?.close()
    this.#watcher = undefined
    this.#cookies.remove()
  }

  #hasFolder(): boolean {
    try {
      this.#folder.ensure()
      return true
    } catch (error) {
      if (hasCode(error, 'ENOENT', ...NO_PLACE)) return false
      throw error
    }
  }
}

/** The system has no more watches to give. */
export function isWatchLimit(error: unknown): boolean {
  return hasCode(
    error,
    'ENOSPC',
    'EMFILE',
    'ENFILE',
    'ENOSYS',
    'ERR_FEATURE_UNAVAILABLE_ON_PLATFORM',
  )
}

function queueLength(): number {
  try {
    const text = readFileSync('/proc/sys/fs/inotify/max_queued_events', 'utf8')
    return Number.parseInt(text, 10) || DEFAULT_QUEUE
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'EACCES')) return DEFAULT_QUEUE
    throw error
  }
}
