// A cookie is a file created for its event: events arrive in order, so all earlier changes have been reported by then.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../model/index.js'

const WAIT_MS = 200

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
    if (this.#last !== undefined) rmSync(this.#last, { force: true })
    this.#last = undefined
  }

  #arrivalOf(name: string): Promise<boolean> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => {
        // The event loop may have been blocked until now: give it one turn to deliver waiting events.
        setImmediate(() => {
          if (this.#waiting.delete(name)) resolve(false)
        })
      }, WAIT_MS)
      this.#waiting.set(name, () => {
        clearTimeout(timer)
        // Resolve after the rest of the burst has been counted.
        setImmediate(() => resolve(true))
      })
    })
  }

  /** Renames one file, which is cheapest. False if no file can be created. */
  #put(name: string): boolean {
    const path = join(this.#folder, name)
    try {
      this.#move(path)
    } catch (error) {
      // The save continues without a watch, and reports the disk error if it cannot write either.
      if (!hasCode(error, 'ENOENT', ...UNWRITABLE_CODES)) throw error
      this.#last = undefined
      return false
    }
    this.#last = path
    return true
  }

  #move(path: string): void {
    try {
      if (this.#last !== undefined) return renameSync(this.#last, path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
    }
    writeFileSync(path, '', { mode: 0o600 })
  }
}

/** Errors of a folder in which no file can be created now. */
export const UNWRITABLE_CODES = [
  'EACCES',
  'EPERM',
  'EROFS',
  'ENOSPC',
  'EDQUOT',
  'ENOTDIR',
  'EEXIST',
]
