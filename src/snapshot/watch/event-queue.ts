// The kernel's event queue, which all watches of a thread share. It detects whether the kernel dropped events, and whether
// all earlier events have arrived. The kernel's overflow is silent here, so a burst of half the queue's length counts as
// an overflow.
import { type FSWatcher, readFileSync, rmSync, watch, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../../base/index.js'
import { hasCode } from '../../model/index.js'
import type { WatchFolder } from './watch-folder.js'

const DEFAULT_QUEUE = 16_384
const COOKIE_WAIT_MS = 200

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
    if (!isWritable(() => this.#folder.ensure())) return false
    try {
      this.#watcher = watch(this.#folder.path, { persistent: false }, (_type, name) => {
        this.count()
        this.#cookies.notify(name)
      })
    } catch (error) {
      if (!isWatchLimit(error) && hasCode(error, ...UNWRITABLE_CODES)) return false
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
}

/**
 * A cookie is a file created for its event: events arrive in order, so all earlier changes have been reported by then.
 */
export class Cookies {
  readonly #folder: string
  readonly #nameOf: (number: number) => string
  /** Callbacks by cookie name. */
  readonly #waiting = new Map<string, () => void>()
  #made = 0
  #last: string | undefined

  constructor(folder: string, nameOf: (number: number) => string) {
    this.#folder = folder
    this.#nameOf = nameOf
  }

  /** True once the event of a new cookie has arrived, with the rest of its burst; false if it does not arrive. */
  async wait(): Promise<boolean> {
    const name = this.#nameOf((this.#made += 1))
    return this.#put(name) && this.#arrivalOf(name)
  }

  /** Call for every event in the cookie folder. */
  notify(name: string | null): void {
    if (name === null) return
    this.#waiting.get(name)?.()
    this.#waiting.delete(name)
  }

  remove(): void {
    const last = this.#last
    this.#last = undefined
    if (last !== undefined) rmSync(last, { force: true })
  }

  #arrivalOf(name: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        // The event loop may have been blocked until now: give it one turn to deliver waiting events.
        setImmediate(() => {
          if (this.#waiting.delete(name)) resolve(false)
        })
      }, COOKIE_WAIT_MS)
      this.#waiting.set(name, () => {
        clearTimeout(timer)
        // Resolve after the rest of the burst has been counted.
        setImmediate(() => resolve(true))
      })
    })
  }

  /** Replaces the last cookie. False if no file can be created. */
  #put(name: string): boolean {
    const path = join(this.#folder, name)
    // The save continues without a watch, and reports the disk error if it cannot write either.
    return isWritable(() => {
      this.remove()
      writeFileSync(path, '', { mode: 0o600 })
      this.#last = path
    })
  }
}

/** Errors of a folder in which no file can be created now. */
const UNWRITABLE_CODES = [
  'ENOENT',
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'ENOTDIR',
  'EEXIST',
]

/** False if `write` failed because no file can be created in the store now. */
export function isWritable(write: () => void): boolean {
  try {
    write()
    return true
  } catch (error) {
    if (hasCode(error, ...UNWRITABLE_CODES)) return false
    throw error
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
  const path = '/proc/sys/fs/inotify/max_queued_events'
  return Number(ifExists(() => readFileSync(path, 'utf8'), 'EACCES')) || DEFAULT_QUEUE
}
