// What the objects of each checkpoint take on disk, and all the rest of the store.
import { join } from 'node:path'
import type { CheckpointId, ObjectId } from '../model/index.js'
import { bytesOf, reachableFrom, takeCensus } from '../snapshot/index.js'
import { diskUsage } from '../system/index.js'
import type { StoreContext } from './context.js'

/** What a collection packs, empties or writes anew. Too low a guess is put right by another round, too high a one not. */
const PASSING = ['objects.git/objects', 'objects.git/refs', 'tmp', 'ledger.db', 'ledger.db-wal']

export class StoreSizes {
  readonly total: number
  readonly #gitDir: string
  readonly #bytes: ReadonlyMap<string, number>
  readonly #rest: number

  static async take({ home, snapshots, ledger }: StoreContext): Promise<StoreSizes> {
    const { gitDir } = snapshots
    const bytes = bytesOf(takeCensus(join(gitDir, 'objects')))
    const total = await diskUsage(home)
    let rest = total + ledger.upkeep.bytesInUse()
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
    this.#rest = rest
  }

  live(
    commits: ReadonlyMap<CheckpointId, ObjectId>,
    gone: ReadonlySet<CheckpointId>,
  ): Promise<Set<string>> {
    const left = [...commits].filter(([id]) => !gone.has(id)).map(([, commit]) => commit)
    return reachableFrom(this.#gitDir, new Set(left))
  }

  async after(
    commits: ReadonlyMap<CheckpointId, ObjectId>,
    gone: ReadonlySet<CheckpointId>,
  ): Promise<number> {
    return this.#rest + this.#sumOf(await this.live(commits, gone))
  }

  async freed(commits: readonly ObjectId[], live: ReadonlySet<string>): Promise<number> {
    if (commits.length === 0) return 0
    const held = await reachableFrom(this.#gitDir, new Set(commits))
    return this.#sumOf([...held].filter((id) => !live.has(id)))
  }

  #sumOf(ids: Iterable<string>): number {
    let total = 0
    for (const id of ids) total += this.#bytes.get(id) ?? 0
    return total
  }
}
