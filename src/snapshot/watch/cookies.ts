// A cookie is a file made to be heard of: its event stands behind those of all that happened before.
import { mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hasCode } from '../../model/index.js'

const WAIT_MS = 200

export class Cookies {
  readonly #folder: string
  readonly #nameOf: (number: number) => string
  #waiting: { readonly name: string; readonly arrived: () => void }[] = []
  #made = 0
  #last: string | undefined

  constructor(folder: string, nameOf: (number: number) => string) {
    this.#folder = folder
    this.#nameOf = nameOf
  }

  /** True once the event of a new cookie has come, and all that came with it; false if it does not come. */
  async wait(): Promise<boolean> {
    const name = this.#nameOf((this.#made += 1))
    const arrival = this.#arrivalOf(name)
    this.#put(name)
    return arrival
  }

  /** An event of this name has come. */
  hear(name: string | null): void {
    this.#waiting = this.#waiting.filter((each) => {
      if (each.name !== name) return true
      each.arrived()
      return false
    })
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
          this.#waiting = this.#waiting.filter((each) => each.name !== name)
          resolve(false)
        })
      }, WAIT_MS)
      const arrived = () => {
        clearTimeout(timer)
        // Behind the rest of the burst, which is counted by then.
        setImmediate(() => resolve(true))
      }
      this.#waiting.push({ name, arrived })
    })
  }

  /** One file for all of them: a rename costs the least. */
  #put(name: string): void {
    const path = join(this.#folder, name)
    try {
      if (this.#last === undefined) writeFileSync(path, '', { mode: 0o600 })
      else renameSync(this.#last, path)
    } catch (error) {
      if (!hasCode(error, 'ENOENT')) throw error
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      writeFileSync(path, '', { mode: 0o600 })
    }
    this.#last = path
  }
}
