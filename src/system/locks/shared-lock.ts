// A lock that many may hold at once, in any number of processes, or one alone. Like `takeLock` it is SQLite's on
// an empty database, so the kernel drops it when its holder dies. Who wants it alone never makes the others wait
// for the chance: the attempt fails at once while anybody holds it.
import { setTimeout as sleep } from 'node:timers/promises'
import { SavestateError } from '../../model/index.js'
import { type LockDatabase, openLockDatabase } from '../sqlite/sqlite.js'
import { isBusy } from '../sqlite/sqlite-errors.js'

/** Longer than most who hold it alone: a repair may take its time. */
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

  /** Waits while somebody holds it alone, which does not block the event loop. Throws STORE_BUSY if that takes too long. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    await this.#enter()
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** Holds it until `close`. Waits as `shared` does. */
  async hold(): Promise<void> {
    await this.#enter()
  }

  /** Does the work while nobody else holds the lock; undefined if somebody does. */
  alone<T>(work: () => T): { readonly result: T } | undefined {
    const database = openLockDatabase(this.#path, { timeoutMs: 0 })
    try {
      database.exec('BEGIN EXCLUSIVE')
      return { result: work() }
    } catch (error) {
      if (isBusy(error)) return undefined
      throw error
    } finally {
      database.close()
    }
  }

  /**
   * Exchanges the shared hold for the lock alone, does the work, and holds it shared again. Undefined if somebody else holds it;
   * then the work was not done.
   */
  async upgrade<T>(work: () => Promise<T>): Promise<{ readonly result: T } | undefined> {
    this.close()
    const database = openLockDatabase(this.#path, { timeoutMs: 0 })
    try {
      if (!isTakenAlone(database)) return undefined
      return { result: await work() }
    } finally {
      database.close()
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
      if (performance.now() >= deadline) throw heldAlone()
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

function isTakenAlone(database: LockDatabase): boolean {
  try {
    database.exec('BEGIN EXCLUSIVE')
    return true
  } catch (error) {
    if (isBusy(error)) return false
    throw error
  }
}

/** A transaction holds nothing until it has read something. False if it cannot, and then there is none. */
function hasRead(database: LockDatabase): boolean {
  database.exec('BEGIN')
  try {
    database.exec('SELECT count(*) FROM sqlite_schema')
    return true
  } catch (error) {
    // One that stays open would refuse every later attempt.
    database.exec('ROLLBACK')
    if (isBusy(error)) return false
    throw error
  }
}

function heldAlone(): SavestateError {
  return new SavestateError('STORE_BUSY', 'Another process has locked the store', {
    hint: 'Wait until it is done (it may be `savestate repair` or `savestate clear`), then run the command again.',
  })
}
