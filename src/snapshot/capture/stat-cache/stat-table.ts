// Compares the rows of a NodeTable with the file system without creating nodes. The stat thread starts at the end of the
// table, the scan's own thread at the beginning.
import { type Columns, columnsOf, KIND, type NodeTable } from './columns.js'
import { isSameStamp, lstat } from './stats.js'

/** `skipped`: the row is a skipped path, which has no stat to compare. */
export const VERDICT = { changed: 0, same: 1, skipped: 2 } as const

const TYPE_MASK = 0o170000
// In the order of their kinds: folder, file, link.
const TYPES = [0o040000, 0o100000, 0o120000]

export class StatTable {
  readonly count: number
  readonly #columns: Columns
  readonly #names: Buffer
  readonly #root: string
  #folder = -1
  /** The path of that folder, with a trailing slash. */
  #folderPath = ''

  /** `root` is the project's absolute path, one character per byte. */
  constructor(table: NodeTable, root: string) {
    this.count = table.count
    this.#columns = columnsOf(table)
    const { buffer, byteOffset, length } = table.names
    this.#names = Buffer.from(buffer, byteOffset, length)
    this.#root = root
  }

  /** Writes a verdict for each row of a range. A missing or inaccessible path has changed. A chmod shows in ctime. */
  check(from: number, to: number, verdicts: Uint8Array): void {
    const { kinds, parents } = this.#columns
    for (let row = from; row < to; row++) {
      if (kinds[row] === KIND.skipped) {
        verdicts[row] = VERDICT.skipped
        continue
      }
      const parent = parents[row] ?? 0
      if (parent !== this.#folder) {
        this.#folderPath = `${this.#pathOf(parent)}/`
        this.#folder = parent
      }
      const path = row === 0 ? this.#root : this.#folderPath + this.#nameOf(row)
      verdicts[row] = this.#isSame(row, lstat(path)) ? VERDICT.same : VERDICT.changed
    }
  }

  #isSame(row: number, stats: ReturnType<typeof lstat>): boolean {
    if (typeof stats !== 'object') return false
    const { kinds, sizes, mtimes, ctimes, inos } = this.#columns
    const times = { mtimeNs: mtimes[row] ?? 0n, ctimeNs: ctimes[row] ?? 0n }
    const stamp = { size: sizes[row] ?? 0, ino: inos[row] ?? 0n, ...times }
    return isSameStamp(stamp, stats) && (Number(stats.mode) & TYPE_MASK) === TYPES[kinds[row] ?? 0]
  }

  #pathOf(row: number): string {
    if (row === 0) return this.#root === '/' ? '' : this.#root
    return `${this.#pathOf(this.#columns.parents[row] ?? 0)}/${this.#nameOf(row)}`
  }

  #nameOf(row: number): string {
    const start = this.#columns.nameStarts[row] ?? 0
    return this.#names.latin1Slice(start, start + (this.#columns.nameBytes[row] ?? 0))
  }
}
