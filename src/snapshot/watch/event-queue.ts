// The kernel's event queue, which all watches of a thread share. It detects whether the kernel dropped events, and whether
// all earlier events have arrived. The kernel's overflow is silent here, so a burst of half the queue's length counts as
// an overflow.
import { type FSWatcher, readFileSync, watch } from 'node:fs'
import { hasCode } from '../../model/index.js'
import { Cookies, UNWRITABLE_CODES } from './cookies.js'
import type { WatchFolder } from './watch-folder.js'

const DEFAULT_QUEUE = 16_384

export class EventQueue {
  readonly #folder: WatchFolder
  readonly #safeBurst: number
  readonly #cookies: Cookies
  #watcher: FSWatcher | undefined
  #burst = 0
  readonly #overflowListeners = new Set<() => void>()

  /** `folder`: for cookies. */
  constructor(folder: WatchFolder) {
    this.#folder = folder
    this.#safeBurst = queueLength() / 2
    this.#cookies = new Cookies(folder.path, (number) => `cookie-${number}`)
  }

  /** Returns a function that removes the listener. */
  onOverflow(listener: () => void): () => void {
    this.#overflowListeners.add(listener)
    return () => void this.#overflowListeners.delete(listener)
  }

  /** Call for every event. A burst arrives in one turn of the event loop. */
  count(): void {
    if (this.#burst === 0) setImmediate(() => (this.#burst = 0))
    this.#burst += 1
    if (this.#burst < this.#safeBurst) return
    for (const listener of this.#overflowListeners) listener()
  }

  /**
   * Starts the watch on the cookies; false if none can be created now. Throws if the system refuses this watch: it comes
   * first, because without it all other watches are useless.
   */
  listen(): boolean {
    if (this.#watcher !== undefined) return true
    if (!this.#hasFolder()) return false
    try {
      this.#watcher = watch(this.#folder.path, { persistent: false }, (_type, name) => {
        this.count()
        this.#cookies.notify(name)
      })
    } catch (error) {
      if (!isWatchLimit(error) && hasCode(error, 'ENOENT', ...UNWRITABLE_CODES)) return false
      throw error
    }
    this.#watcher.on('error', () => this.close())
    return true
  }

  /** Waits until all events of earlier changes have been reported. False if that is uncertain. */
  async drain(): Promise<boolean> {
    try {
      if (!this.listen()) return false
    } catch (error) {
      if (isWatchLimit(error)) return false
      throw error
    }
    if (await this.#cookies.wait()) return true
    // The folder may have been removed: the next drain creates it again.
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
      if (hasCode(error, 'ENOENT', ...UNWRITABLE_CODES)) return false
      throw error
    }
  }
}

/** The system has no more watches. */
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
