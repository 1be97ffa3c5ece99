// Which files of a checkout are surely what the user's own git has stored of them, by its index. Read once for a
// save of many new files. What is odd about an index or a repository only costs time: then the files are read.
import { lstatSync, statSync } from 'node:fs'
import { ifExists } from '../../base/index.js'
import { type BytePath, fsPath, parentOf } from '../../model/index.js'
import { isUnreadable } from '../capture/stats.js'
import { indexStamp, type ReadIndex, readIndex } from './git-index.js'
import { ENTRY_BYTES, indexTime, type IndexTime, isAsEntry, isUsable } from './index-entry.js'
import { IndexUnsupported } from './index-format.js'
import type { Repository } from './repository.js'

const ATTRIBUTES = /(?:^|\/)\.gitattributes$/

export class CleanFiles {
  readonly #index: Buffer
  readonly #written: IndexTime
  readonly #positions: ReadonlyMap<BytePath, number>
  /** Folders whose attributes in the index may not be those in the folder. */
  readonly #doubtful: readonly string[]

  private constructor(worktree: string, index: ReadIndex & { readonly written: IndexTime }) {
    this.#index = index.bytes
    this.#written = index.written
    const { names, positions } = index
    this.#positions = new Map(names.map((name, i) => [name, positions[i] ?? 0]))
    this.#doubtful = names
      .filter((name) => ATTRIBUTES.test(name) && !this.#isClean(worktree, name))
      .map((name) => parentOf(name))
  }

  /** Undefined where the index proves nothing. */
  static of(repository: Repository): CleanFiles | undefined {
    try {
      return CleanFiles.#read(repository)
    } catch (error) {
      // What a scan makes of it is told there; here it only takes longer.
      if (error instanceof IndexUnsupported || isUnreadable(error)) return undefined
      throw error
    }
  }

  static #read(repository: Repository): CleanFiles | undefined {
    const path = `${repository.gitDir}/index`
    const index = readIndex(repository)
    const stats = ifExists(() => statSync(fsPath(path), { bigint: true }))
    // Who else can write the index could make it say of any file that it is any other.
    if (stats === undefined || Number(stats.uid) !== (process.getuid?.() ?? 0)) return undefined
    if (index === undefined || indexStamp(repository) !== index.stamp) return undefined
    // Ids of another format name nothing in the store.
    if (index.format !== 'sha1') return undefined
    return new CleanFiles(repository.worktree, { ...index, written: indexTime(stats.mtimeNs) })
  }

  /** Copies the entry of a path (from the top of the worktree) to `to`, if it may prove something. */
  copyEntry(path: BytePath, to: Buffer, at: number): boolean {
    const position = this.#positions.get(path)
    if (position === undefined || !isUsable(this.#index, position, this.#written)) return false
    if (this.#doubtful.some((folder) => folder === '' || path.startsWith(`${folder}/`)))
      return false
    this.#index.copy(to, at, position, position + ENTRY_BYTES)
    return true
  }

  #isClean(worktree: string, name: BytePath): boolean {
    const position = this.#positions.get(name) ?? 0
    if (!isUsable(this.#index, position, this.#written)) return false
    const path = fsPath(`${worktree}/${name}`)
    const stats = ifExists(() => lstatSync(path, { bigint: true }))
    if (stats === undefined) return false
    return isAsEntry(stats, { entries: this.#index, at: position })
  }
}
