// The names that events touched since the last save, and the folders whose state is unknown. Everything else is unchanged
// (docs/internals/watching.md).
import { type BytePath, nameOf, parentOf, ROOT } from '../../model/index.js'
import type { Node } from '../capture/stat-cache/node.js'

/** Above this limit the whole project is scanned, so that the list does not grow without bound. */
const MAX_NAMES = 100_000

export class Touches {
  readonly #names = new Map<BytePath, Set<string>>()
  /** Folders that contain a touched name, and their ancestors. */
  readonly #touchedFolders = new Set<BytePath>()
  readonly #invalid = new Set<BytePath>()
  #count = 0

  get isEmpty(): boolean {
    return this.#touchedFolders.size === 0 && this.#invalid.size === 0
  }

  /** `hasNewNames`: a name may have been added or removed, so the folder itself changed too. */
  add(folder: BytePath, name: string, { hasNewNames }: { readonly hasNewNames: boolean }): void {
    this.#touch(folder, name)
    if (hasNewNames && folder !== ROOT) this.#touch(parentOf(folder), nameOf(folder))
  }

  has(folder: BytePath, name: string): boolean {
    return this.#isInvalid(folder) || this.#names.get(folder)?.has(name) === true
  }

  /** The state of a folder and everything below it is unknown. */
  invalidate(folder: BytePath): void {
    if (folder === ROOT) this.#invalidateAll()
    if (this.#invalid.has(ROOT)) return
    this.#invalid.add(folder)
    this.#touch(parentOf(folder), nameOf(folder))
  }

  unchangedIn(folder: BytePath): (node: Node) => boolean {
    if (this.#isInvalid(folder)) return () => false
    const names = this.#names.get(folder)
    return (node) => (node.kind !== 'file' || !node.isLinked) && names?.has(node.name) !== true
  }

  /** Nothing in the folder or below it was touched. */
  isClean(path: BytePath): boolean {
    return !this.#touchedFolders.has(path) && !this.#isInvalid(path)
  }

  #touch(folder: BytePath, name: string): void {
    if (this.#invalid.has(ROOT)) return
    const names = this.#names.get(folder) ?? new Set()
    if (names.has(name)) return
    names.add(name)
    this.#count += 1
    if (this.#count > MAX_NAMES) {
      this.#invalidateAll()
      return
    }
    if (names.size > 1) return
    this.#names.set(folder, names)
    for (let path = folder; !this.#touchedFolders.has(path); path = parentOf(path))
      this.#touchedFolders.add(path)
  }

  #invalidateAll(): void {
    for (const list of [this.#names, this.#touchedFolders, this.#invalid]) list.clear()
    this.#invalid.add(ROOT)
  }

  #isInvalid(folder: BytePath): boolean {
    if (this.#invalid.size === 0) return false
    for (let path = folder; ; path = parentOf(path)) {
      if (this.#invalid.has(path)) return true
      if (path === ROOT) return false
    }
  }
}
