// What the events since the last save say of a project: which names were touched, and of which folders nothing is
// known any more. Whatever is in neither is as the last save left it (docs/watching.md).
import { type BytePath, nameOf, parentOf, ROOT } from '../../model/index.js'
import type { Node } from '../capture/stat-cache/node.js'

/** A project in which more is touched between two saves is looked at as a whole: the list must not grow for ever. */
const MAX_NAMES = 100_000

export class Touches {
  readonly #names = new Map<BytePath, Set<string>>()
  /** Folders with a touched name in them, and all above these. */
  readonly #loud = new Set<BytePath>()
  readonly #lost = new Set<BytePath>()
  #count = 0

  get isEmpty(): boolean {
    return this.#loud.size === 0 && this.#lost.size === 0
  }

  /** `hasNewNames`: a name may have come or gone, so the folder itself is not what it was. */
  add(folder: BytePath, name: string, { hasNewNames }: { readonly hasNewNames: boolean }): void {
    this.#touch(folder, name)
    if (hasNewNames && folder !== ROOT) this.#touch(parentOf(folder), nameOf(folder))
  }

  has(folder: BytePath, name: string): boolean {
    return this.#isLost(folder) || this.#names.get(folder)?.has(name) === true
  }

  /** Nothing is known of a folder and all below it. */
  lose(folder: BytePath): void {
    if (folder === ROOT) this.#loseAll()
    if (this.#lost.has(ROOT)) return
    this.#lost.add(folder)
    this.#touch(parentOf(folder), nameOf(folder))
  }

  sameIn(folder: BytePath): (node: Node) => boolean {
    if (this.#isLost(folder)) return () => false
    const names = this.#names.get(folder)
    return (node) => (node.kind !== 'file' || !node.isLinked) && names?.has(node.name) !== true
  }

  /** Nothing in the folder or below was touched. */
  isQuiet(path: BytePath): boolean {
    return !this.#loud.has(path) && !this.#isLost(path)
  }

  #touch(folder: BytePath, name: string): void {
    if (this.#lost.has(ROOT)) return
    const names = this.#names.get(folder) ?? new Set()
    if (names.has(name)) return
    names.add(name)
    this.#count += 1
    if (this.#count > MAX_NAMES) {
      this.#loseAll()
      return
    }
    if (names.size > 1) return
    this.#names.set(folder, names)
    for (let path = folder; !this.#loud.has(path); path = parentOf(path)) this.#loud.add(path)
  }

  #loseAll(): void {
    for (const list of [this.#names, this.#loud, this.#lost]) list.clear()
    this.#lost.add(ROOT)
  }

  #isLost(folder: BytePath): boolean {
    if (this.#lost.size === 0) return false
    for (let path = folder; ; path = parentOf(path)) {
      if (this.#lost.has(path)) return true
      if (path === ROOT) return false
    }
  }
}
