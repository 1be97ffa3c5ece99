// A cookie is a file made to be heard of: its event stands behind those of all that happened before.
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../model/index.js'

const WAIT_MS = 200

export class Cookies {
  readonly #folder: string
  readonly #nameOf: (number: number) => string
  /** What is to be called when the event of a name comes. */
  readonly #waiting = new Map<string, () => void>()
  #made = 0
  #last: string | undefined

  constructor(folder: string, nameOf: (number: number) => string) {
    this.#folder = folder
    this.#nameOf = nameOf
  }

  /** True once the event of a new cookie has come, and all that came with it; false if it does not come. */
  async wait(): Promise<boolean> {
    const name = this.#nameOf((this.#made += 1))
    return this.#put(name) && this.#arrivalOf(name)
  }

  /** An event of this name has come. */
  hear(name: string | null): void {
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
        // The loop may have been held up for that long: once round, so that what has come is told.
        setImmediate(() => {
          if (this.#waiting.delete(name)) resolve(false)
        })
      }, WAIT_MS)
      this.#waiting.set(name, () => {
        clearTimeout(timer)
        // Behind the rest of the burst, which is counted by then.
        setImmediate(() => resolve(true))
      })
    })
  }

  /** One file for all of them: a rename costs the least. False where no file can be made. */
  #put(name: string): boolean {
    const path = join(this.#folder, name)
    try {
      this.#move(path)
    } catch (error) {
      // The save goes on without, and says what is wrong with the disk if that keeps it from saving too.
      if (!hasCode(error, 'ENOENT', ...NO_PLACE)) throw error
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

/** Errors of a folder in which nothing can be made now. */
export const NO_PLACE = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'ENOTDIR', 'EEXIST']
