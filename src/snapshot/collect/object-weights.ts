// Computes the size of the store without some of its commits. Objects form a graph in which most are shared, so each has a
// count of the live objects that lead to it; it takes bytes while that count is above zero.
import { invariant, type ObjectId } from '../../model/index.js'
import { BlobReader } from '../git/blob-reader.js'
import { decodeTree } from '../objects/tree.js'
import { eachLine } from './mark.js'

const NO_CHILDREN: readonly number[] = []
const COMMIT_TREE = /^tree ([0-9a-f]{40})$/m

export class ObjectWeights {
  readonly #numbers = new Map<string, number>()
  readonly #bytes: number[] = []
  readonly #holders: number[] = []
  readonly #children: (readonly number[])[] = []
  #total = 0

  private constructor() {}

  /** All of these commits are live in the beginning. Throws STORE_DAMAGED if one cannot be read to its end. */
  static async read(
    gitDir: string,
    commits: readonly ObjectId[],
    bytes: ReadonlyMap<string, number>,
  ): Promise<ObjectWeights> {
    const weights = new ObjectWeights()
    const reader = new BlobReader(gitDir)
    try {
      const ids: ObjectId[] = []
      const args = ['rev-list', '--objects', '--no-object-names', '--filter=blob:none', '--stdin']
      // Without any commit, git would print how it is used.
      if (commits.length > 0)
        await eachLine(gitDir, { args, input: commits }, (line) => ids.push(line as ObjectId))
      const roots = new Set<string>(commits)
      for (const id of ids) {
        const content = await reader.read(id)
        const children = roots.has(id) ? treeOf(content) : decodeTree(content).map((it) => it.id)
        weights.#children[weights.#numberOf(id, bytes)] = children.map((child) =>
          weights.#numberOf(child, bytes),
        )
      }
    } finally {
      reader.close()
    }
    for (const commit of commits) weights.add(commit)
    return weights
  }

  /** Bytes of everything live. */
  get total(): number {
    return this.#total
  }

  add(commit: ObjectId): void {
    this.#change(commit, 1)
  }

  /** How many bytes nothing leads to any more. */
  remove(commit: ObjectId): number {
    const before = this.#total
    this.#change(commit, -1)
    return before - this.#total
  }

  /** Bytes that these commits lead to, what others share included. */
  reachedFrom(commits: readonly ObjectId[]): number {
    const seen = new Set<number>()
    const open = commits.map((commit) => this.#known(commit))
    let bytes = 0
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      if (seen.has(number)) continue
      seen.add(number)
      bytes += this.#bytes[number] ?? 0
      for (const child of this.#children[number] ?? NO_CHILDREN) open.push(child)
    }
    return bytes
  }

  #change(commit: ObjectId, by: 1 | -1): void {
    const open = [this.#known(commit)]
    for (let number = open.pop(); number !== undefined; number = open.pop()) {
      const before = this.#holders[number] ?? 0
      this.#holders[number] = before + by
      const isSwitched = by === 1 ? before === 0 : before === 1
      if (!isSwitched) continue
      this.#total += by * (this.#bytes[number] ?? 0)
      for (const child of this.#children[number] ?? NO_CHILDREN) open.push(child)
    }
  }

  #known(commit: ObjectId): number {
    const number = this.#numbers.get(commit)
    invariant(number !== undefined, 'the commit was read')
    return number
  }

  #numberOf(id: string, bytes: ReadonlyMap<string, number>): number {
    const known = this.#numbers.get(id)
    if (known !== undefined) return known
    const number = this.#bytes.length
    this.#numbers.set(id, number)
    this.#bytes.push(bytes.get(id) ?? 0)
    this.#holders.push(0)
    return number
  }
}

function treeOf(commit: Buffer): ObjectId[] {
  const tree = COMMIT_TREE.exec(commit.toString('latin1'))?.[1]
  invariant(tree !== undefined, 'a commit names its tree')
  return [tree as ObjectId]
}
