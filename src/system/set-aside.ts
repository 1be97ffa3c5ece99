// Moves files out of the way instead of deleting them: into one folder, under their old names, with a list of where each
// came from and why.
import {
  appendFileSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  renameSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { syncFolder } from './atomic-file.js'

export type SetAsideOptions = {
  /** Files keep their path relative to this folder. */
  readonly root: string
  /** The destination; created on first use. */
  readonly folder: string
}

export class SetAside {
  readonly #options: SetAsideOptions

  constructor(options: SetAsideOptions) {
    this.#options = options
  }

  get isUsed(): boolean {
    return existsSync(this.#options.folder)
  }

  /** Returns the new path; undefined if there was nothing to move. */
  move(path: string, why: string): string | undefined {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
    const place = this.#placeFor(path, why)
    renameSync(path, place)
    syncFolder(dirname(place))
    syncFolder(dirname(path))
    return place
  }

  /** For a file that must also stay where it is. */
  copy(path: string, why: string): void {
    if (existsSync(path)) copyFileSync(path, this.#placeFor(path, why))
  }

  /** Stores a text that was not a file. */
  note(name: string, text: string): void {
    writeFileSync(this.#placeFor(join(this.#options.root, name), 'kept as text'), text, {
      mode: 0o600,
    })
  }

  #placeFor(path: string, why: string): string {
    const { root, folder } = this.#options
    const name = relative(root, path)
    let place = join(folder, name)
    for (let n = 2; lstatSync(place, { throwIfNoEntry: false }) !== undefined; n++)
      place = join(folder, `${name}.${n}`)
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
    // Write the list first, so that every moved file is on it.
    appendFileSync(join(folder, 'list.txt'), `${relative(folder, place)}: ${why}\n`, {
      mode: 0o600,
    })
    return place
  }
}
