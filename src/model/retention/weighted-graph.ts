// Computes how many bytes a graph takes without some of its roots. Most of what roots lead to is shared, so each node has a
// count of the live nodes that lead to it; it takes bytes while that count is above zero. For snapshots and for states.
import { invariant } from '../errors.js'

const NO_CHILDREN: readonly number[] = []

export class WeightedGraph {
  readonly #numbers = new Map<string, number>()
  readonly #bytes: number[] = []
  readonly #holders: number[] = []
  readonly #children: (readonly number[])[] = []
  #total = 0

  /** Before anything that leads to the node is added. */
  setBytes(id: string, bytes: number): void {
    this.#bytes[this.#numberOf(id)] = bytes
  }

  setChildren(id: string, children: readonly string[]): void {
    this.#children[this.#numberOf(id)] = children.map((child) => this.#numberOf(child))
  }

  has(id: string): boolean {
    return this.#numbers.has(id)
  }

  get total(): number {
    return this.#total
  }

  /** Adds one reference to this root. */
  add(root: string): void {
    this.#change(root, 1)
  }

  remove(root: string): void {
    this.#change(root, -1)
  }

  /** Bytes that these roots lead to, including what others share. */
  reachedFrom(roots: readonly string[]): number {
    const seen = new Set<number>()
    const open = roots.map((root) => this.#known(root))
    let bytes = 0
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      if (seen.has(number)) continue
      seen.add(number)
      bytes += this.#bytes[number] ?? 0
      for (const child of this.#children[number] ?? NO_CHILDREN) open.push(child)
    }
    return bytes
  }

  #change(root: string, by: 1 | -1): void {
    const open = [this.#known(root)]
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      const before = this.#holders[number] ?? 0
      this.#holders[number] = before + by
      const isSwitched = by === 1 ? before === 0 : before === 1
      if (!isSwitched) continue
      this.#total += by * (this.#bytes[number] ?? 0)
      for (const child of this.#children[number] ?? NO_CHILDREN) open.push(child)
    }
  }

  #known(id: string): number {
    const number = this.#numbers.get(id)
    invariant(number !== undefined, 'the root is in the graph')
    return number
  }

  #numberOf(id: string): number {
    const known = this.#numbers.get(id)
    if (known !== undefined) return known
    const number = this.#holders.length
    this.#numbers.set(id, number)
    this.#holders.push(0)
    return number
  }
}
