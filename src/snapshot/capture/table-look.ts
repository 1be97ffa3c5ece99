// A look at the paths of a NodeTable, without making nodes of them: by the helper thread from the end, by the
// scan's own thread from the beginning.
import { type BigIntStats, lstatSync } from 'node:fs'
import { fsPath, isAscii } from '../../model/index.js'
import { type Columns, columnsOf, KIND, type NodeTable } from './columns.js'

const LSTAT = { bigint: true, throwIfNoEntry: false } as const

export class TableLook {
  readonly count: number
  readonly #columns: Columns
  readonly #names: string
  readonly #nameStarts: Uint32Array
  readonly #parents: Uint32Array
  readonly #folderPaths: string[] = []
  readonly #isAscii: boolean

  /** `root` is the project's absolute path, one character per byte. */
  constructor({ count, columns, names, shape }: NodeTable, root: string) {
    this.count = count
    this.#columns = columnsOf(columns)
    this.#names = Buffer.from(names.buffer, names.byteOffset, names.byteLength).toString('latin1')
    this.#nameStarts = shape.nameStarts
    this.#parents = shape.parents
    this.#isAscii = isAscii(root) && isAscii(this.#names)
    this.#folderPaths[0] = root
  }

  /** Whether the path of a row looks as the row says. False too for what is left out, has vanished, or cannot be looked at. */
  isSame(row: number): boolean {
    if (this.#columns.kinds[row] === KIND.skipped) return false
    const stats = this.#lstat(row)
    return stats !== undefined && this.#isAsKnown(stats, row)
  }

  #pathOf(row: number): string {
    if (row === 0) return this.#folderPaths[0] ?? ''
    const start = this.#nameStarts[row] ?? 0
    const name = this.#names.slice(start, start + (this.#columns.nameBytes[row] ?? 0))
    return `${this.#folderPathOf(this.#parents[row] ?? 0)}/${name}`
  }

  #folderPathOf(row: number): string {
    this.#folderPaths[row] ??= this.#pathOf(row)
    return this.#folderPaths[row] ?? ''
  }

  #lstat(row: number): BigIntStats | undefined {
    const path = this.#pathOf(row)
    try {
      return lstatSync(this.#isAscii ? path : fsPath(path), LSTAT)
    } catch (error) {
      if (error instanceof Error && 'code' in error) return undefined
      throw error
    }
  }

  #isAsKnown(stats: BigIntStats, row: number): boolean {
    const { kinds, ctimes, mtimes, inos, sizes, modes } = this.#columns
    const kind = kinds[row]
    const isSameKind =
      kind === KIND.file
        ? stats.isFile()
        : kind === KIND.folder
          ? stats.isDirectory()
          : stats.isSymbolicLink()
    return (
      isSameKind &&
      ctimes[row] === stats.ctimeNs &&
      mtimes[row] === stats.mtimeNs &&
      inos[row] === stats.ino &&
      sizes[row] === Number(stats.size) &&
      modes[row] === (Number(stats.mode) & 0o7777)
    )
  }
}
