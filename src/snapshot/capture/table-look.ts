// A look at the paths of a NodeTable, without making nodes of them: by the helper thread from the end, by the
// scan's own thread from the beginning.
import { quickLstat, STAT_TYPE, STAT_WORD } from '../../system/index.js'
import { type Columns, columnsOf, KIND, type NodeTable } from './columns.js'

/** What a look finds: changed, the same, or nothing to look at, because it is left out. */
export const VERDICT = { changed: 0, same: 1, leftOut: 2 } as const

const SLASH = 47
const WORD = 2 ** 32
// In the order of their kinds.
const TYPES = Uint8Array.of(STAT_TYPE.folder, STAT_TYPE.file, STAT_TYPE.link)

/** One at a time in a thread: the folder last looked into stands in the path that all looks of a thread share. */
export class TableLook {
  readonly count: number
  readonly #columns: Columns
  readonly #inos: Uint32Array
  readonly #mtimes: Uint32Array
  readonly #ctimes: Uint32Array
  readonly #names: Uint8Array
  readonly #root: Buffer
  readonly #lstat = quickLstat()
  #folder = -1
  #folderBytes = 0

  /** `root` is the project's absolute path, one character per byte. */
  constructor(table: NodeTable, root: string) {
    const columns = columnsOf(table)
    this.count = table.count
    this.#columns = columns
    this.#inos = wordsOf(columns.inos)
    this.#mtimes = wordsOf(columns.mtimes)
    this.#ctimes = wordsOf(columns.ctimes)
    this.#names = table.names
    this.#root = Buffer.from(root, 'latin1')
  }

  /**
   * Notes of each row in a range whether its path looks as the row says. What has vanished or cannot be looked at has
   * changed; of the mode the change time tells. In one piece, because V8 compiles each part of it anew for all that call it.
   */
  judge(from: number, to: number, verdicts: Uint8Array): void {
    const { kinds, parents, nameStarts, nameBytes, sizes } = this.#columns
    const [inos, mtimes, ctimes, names] = [this.#inos, this.#mtimes, this.#ctimes, this.#names]
    const { path, words, look } = this.#lstat
    for (let row = from; row < to; row++) {
      const kind = kinds[row] ?? 0
      if (kind === KIND.skipped) {
        verdicts[row] = VERDICT.leftOut
        continue
      }
      const parent = parents[row] ?? 0
      if (parent !== this.#folder) this.#enter(parent)
      let end = this.#folderBytes - (row === 0 ? 1 : 0)
      const nameStart = nameStarts[row] ?? 0
      const nameEnd = nameStart + (nameBytes[row] ?? 0)
      for (let at = nameStart; at < nameEnd; at++) path[end++] = names[at] ?? 0
      verdicts[row] =
        look(end) &&
        words[STAT_WORD.type] === TYPES[kind] &&
        words[STAT_WORD.ctime] === ctimes[2 * row] &&
        words[STAT_WORD.ctime + 1] === ctimes[2 * row + 1] &&
        words[STAT_WORD.mtime] === mtimes[2 * row] &&
        words[STAT_WORD.mtime + 1] === mtimes[2 * row + 1] &&
        words[STAT_WORD.ino] === inos[2 * row] &&
        words[STAT_WORD.ino + 1] === inos[2 * row + 1] &&
        (words[STAT_WORD.size] ?? 0) + (words[STAT_WORD.size + 1] ?? 0) * WORD === sizes[row]
          ? VERDICT.same
          : VERDICT.changed
    }
  }

  #enter(folder: number): void {
    this.#folderBytes = this.#writeFolder(folder)
    this.#folder = folder
  }

  /** With the slash behind it. */
  #writeFolder(row: number): number {
    const { path } = this.#lstat
    let end = this.#root.length
    if (row === 0) path.set(this.#root)
    else {
      const { parents, nameStarts, nameBytes } = this.#columns
      end = this.#writeFolder(parents[row] ?? 0)
      const start = nameStarts[row] ?? 0
      const bytes = nameBytes[row] ?? 0
      for (let at = 0; at < bytes; at++) path[end++] = this.#names[start + at] ?? 0
    }
    path[end] = SLASH
    return end + 1
  }
}

function wordsOf({ buffer, byteOffset, length }: BigInt64Array | BigUint64Array): Uint32Array {
  return new Uint32Array(buffer, byteOffset, 2 * length)
}
