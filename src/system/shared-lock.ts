// A lock that many may hold at once, in any number of processes, or one alone. Like `takeLock` it is SQLite's on
// an empty database, so the kernel drops it when its holder dies. Who wants it alone never makes the others wait
// for the chance: the attempt fails at once while anybody holds it.
import { type LockDatabase, openLockDatabase } from './sqlite.js'
import { isBusy } from './sqlite-faults.js'

/** Longer than anybody holds it alone. */
const WAIT_MS = 10_000

export class SharedLock {
  readonly #path: string
  #database: LockDatabase | undefined
  #holders = 0

  constructor(path: string) {
    this.#path = path
  }

  /** Waits while somebody holds it alone, which is for milliseconds. */
  async shared<T>(work: () => Promise<T>): Promise<T> {
    this.#enter()
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  /** Holds it until `close`. */
  hold(): void {
    this.#enter()
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

  close(): void {
    this.#database?.close()
    this.#database = undefined
    this.#holders = 0
  }

  #enter(): void {
    this.#database ??= openLockDatabase(this.#path, { timeoutMs: WAIT_MS })
    if (this.#holders === 0) {
      this.#database.exec('BEGIN')
      // A transaction holds nothing until it has read something.
      this.#database.exec('SELECT count(*) FROM sqlite_schema')
    }
    this.#holders += 1
  }

  #leave(): void {
    this.#holders -= 1
    if (this.#holders === 0) this.#database?.exec('COMMIT')
  }
}
