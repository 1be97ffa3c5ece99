// Sizes on disk: of the objects of checkpoints, and of the rest of the store.
import { join } from 'node:path'
import type { ObjectId, WeightedGraph } from '../model/index.js'
import { bytesOf, reachableFrom, readObjectGraph, takeCensus } from '../snapshot/index.js'
import { diskUsage } from '../system/index.js'
import type { StoreContext } from './context.js'

/**
 * Paths that a collection packs, empties, rewrites or removes. If the estimate is too low, another round corrects it; nothing corrects
 * one that is too high.
 */
const PASSING = [
  'objects.git/objects',
  'objects.git/refs',
  'tmp',
  'ledger.db',
  'ledger.db-wal',
  'ledger.db.backup',
]

export class StoreSizes {
  /** The whole store, measured. */
  readonly total: number
  /** Everything except the objects, after a collection. */
  readonly rest: number
  readonly #gitDir: string
  readonly #bytes: ReadonlyMap<string, number>

  static async take({ home, snapshots, ledger }: StoreContext): Promise<StoreSizes> {
    const { gitDir } = snapshots
    const bytes = bytesOf(takeCensus(join(gitDir, 'objects')))
    const total = await diskUsage(home)
    let rest = total + ledger.vacuum.bytesInUse()
    for (const name of PASSING) rest -= await diskUsage(join(home, name))
    return new StoreSizes(gitDir, bytes, { total, rest })
  }

  private constructor(
    gitDir: string,
    bytes: ReadonlyMap<string, number>,
    { total, rest }: { readonly total: number; readonly rest: number },
  ) {
    this.#gitDir = gitDir
    this.#bytes = bytes
    this.total = total
    this.rest = rest
  }

  /** The objects that these commits lead to. */
  reached(commits: readonly ObjectId[]): Promise<Set<string>> {
    return reachableFrom(this.#gitDir, new Set(commits))
  }

  sumOf(ids: Iterable<string>): number {
    let total = 0
    for (const id of ids) total += this.#bytes.get(id) ?? 0
    return total
  }

  /** The size of the objects that only these commits lead to. */
  async freed(commits: readonly ObjectId[], live: ReadonlySet<string>): Promise<number> {
    if (commits.length === 0) return 0
    const reached = await this.reached(commits)
    return this.sumOf([...reached].filter((id) => !live.has(id)))
  }

  graph(commits: readonly string[]): Promise<WeightedGraph> {
    return readObjectGraph(this.#gitDir, { commits, bytes: this.#bytes })
  }
}
