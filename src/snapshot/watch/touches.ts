// What the events since the last save say of a project: which names were touched, and of which folders nothing is
// known any more. Whatever is in neither is as the last save left it (docs/watching.md).
import { type BytePath, nameOf, parentOf, ROOT } from '../../model/index.js'
import type { Node } from '../capture/node.js'

export class Touches {
  readonly #names = new Map<BytePath, Set<string>>()
  /** Folders with a touched name in them, and all above these. */
  readonly #loud = new Set<BytePath>()
  readonly #lost = new Set<BytePath>()

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
    this.#lost.add(folder)
    if (folder !== ROOT) this.add(parentOf(folder), nameOf(folder), { hasNewNames: false })
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
    const names = this.#names.get(folder)
    if (names !== undefined) {
      names.add(name)
      return
    }
    this.#names.set(folder, new Set([name]))
    for (let path = folder; !this.#loud.has(path); path = parentOf(path)) this.#loud.add(path)
  }

  #isLost(folder: BytePath): boolean {
    if (this.#lost.size === 0) return false
    for (let path = folder; ; path = parentOf(path)) {
      if (this.#lost.has(path)) return true
      if (path === ROOT) return false
    }
  }
}
