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
    const target = this.#pathFor(path, why)
    renameSync(path, target)
    syncFolder(dirname(target))
    syncFolder(dirname(path))
    return target
  }

  /** For a file that must also stay where it is. */
  copy(path: string, why: string): void {
    if (existsSync(path)) copyFileSync(path, this.#pathFor(path, why))
  }

  /** Stores a text that was not a file. */
  note(name: string, text: string): void {
    writeFileSync(this.#pathFor(join(this.#options.root, name), 'kept as text'), text, {
      mode: 0o600,
    })
  }

  #pathFor(path: string, why: string): string {
    const { root, folder } = this.#options
    const name = relative(root, path)
    let target = join(folder, name)
    for (let n = 2; lstatSync(target, { throwIfNoEntry: false }) !== undefined; n++)
      target = join(folder, `${name}.${n}`)
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 })
    // Write the list first, so that every moved file is on it.
    appendFileSync(join(folder, 'list.txt'), `${relative(folder, target)}: ${why}\n`, {
      mode: 0o600,
    })
    return target
  }
}
