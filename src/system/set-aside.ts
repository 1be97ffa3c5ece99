// Moves files out of the way without ever deleting one: into a folder of their own, under the names they had, with a
// list of what came from where and why.
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
  /** What stands in it keeps its place below `folder`. */
  readonly root: string
  /** Where it goes; made when the first thing comes. */
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

  /** Returns where it is now; undefined if there was nothing. */
  move(path: string, why: string): string | undefined {
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return undefined
    const place = this.#placeFor(path, why)
    renameSync(path, place)
    syncFolder(dirname(place))
    syncFolder(dirname(path))
    return place
  }

  /** For what still has to stand where it is. */
  copy(path: string, why: string): void {
    if (existsSync(path)) copyFileSync(path, this.#placeFor(path, why))
  }

  /** What has no file of its own. */
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
    // The list first: what was moved is always on it.
    appendFileSync(join(folder, 'list.txt'), `${relative(folder, place)}: ${why}\n`, {
      mode: 0o600,
    })
    return place
  }
}
