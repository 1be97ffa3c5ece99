// A reader-writer lock across processes. Like `takeLock` it uses SQLite's lock on an empty database, so the kernel releases
// it when a holder dies. Taking it exclusively fails at once while anyone holds it and never makes shared holders wait.
import { setTimeout as sleep } from 'node:timers/promises'
import { lockTimeout } from '../../model/index.js'
import { type LockDatabase, openLockDatabase } from '../sqlite/sqlite.js'
import { isBusy } from '../sqlite/sqlite-errors.js'
import { takeExclusively } from './lock.js'

/** Longer than most exclusive holders need; a repair may take longer. */
const WAIT_MS = 10_000
const MAX_PAUSE_MS = 50

export class SharedLock {
  readonly #path: string
  readonly #waitMs: number
  #database: LockDatabase | undefined
  #holders = 0

  constructor(path: string, { waitMs = WAIT_MS }: { readonly waitMs?: number } = {}) {
    this.#path = path
    this.#waitMs = waitMs
  }

  /** Waits, without blocking the event loop, while another process holds the lock exclusively. Throws on timeout. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** Takes the lock until `close`. Waits like `shared`. */
  async hold(): Promise<void> {
    await this.#enter()
  }

  /** Runs the work while no one else holds the lock; undefined if someone does. */
  alone<T>(work: () => T): { readonly result: T } | undefined {
    const database = takeExclusively(this.#path)
    try {
      return database && { result: work() }
    } finally {
      database?.close()
    }
  }

  /**
   * Exchanges the shared lock for an exclusive one, runs the work, then takes the shared lock again. Returns undefined,
   * without running the work, if anyone else holds the lock.
   */
  async upgrade<T>(work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
    this.close()
    let database: LockDatabase | undefined
    try {
      database = takeExclusively(this.#path)
      return database && { result: await work() }
    } finally {
      database?.close()
      await this.hold()
    }
  }

  close(): void {
    this.#database?.close()
    this.#database = undefined
    this.#holders = 0
  }

  async #enter(): Promise<void> {
    const deadline = performance.now() + this.#waitMs
    for (let pauseMs = 1; !this.#tryEnter(); pauseMs = Math.min(pauseMs * 2, MAX_PAUSE_MS)) {
      if (performance.now() >= deadline) throw lockTimeout()
      await sleep(pauseMs)
    }
  }

  #tryEnter(): boolean {
    this.#database ??= openLockDatabase(this.#path, { timeoutMs: 0 })
    if (this.#holders === 0 && !hasRead(this.#database)) return false
    this.#holders += 1
    return true
  }

  #leave(): void {
    this.#holders -= 1
    if (this.#holders === 0) this.#database?.exec('COMMIT')
  }
}

/** A transaction takes its lock on the first read. Returns false, without an open transaction, if the lock is taken. */
function hasRead(database: LockDatabase): boolean {
  database.exec('BEGIN')
  try {
    database.exec('SELECT count(*) FROM sqlite_schema')
    return true
  } catch (error) {
    // An open transaction would make every later attempt fail.
    database.exec('ROLLBACK')
    if (isBusy(error)) return false
    throw error
  }
}
