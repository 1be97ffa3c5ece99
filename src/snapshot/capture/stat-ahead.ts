// Looks at known paths ahead of the scan, on a second core: the helper thread goes through them from the
// end, the scan from the beginning, and where they meet the scan takes what the helper has found. What the
// helper has not reached, or could not look at, the scan looks at itself.
import { Worker } from 'node:worker_threads'
import { type FolderNode, type Node, visitNodes } from './node.js'
import type { Stats } from './stats.js'

/** Numbers kept of one path: mode, size, mtime, ctime, inode. */
export const FIELDS = 5
/** Places in the control words: how far the scan is, and down to where the helper has been. */
export const SCAN_AT = 0
export const HELPER_AT = 1
/** Stands for the mode of a path that could not be looked at; no file has it. */
export const NOT_FOUND = 0n

export type StatJob = {
  /** Absolute paths, one character per byte, a NUL between; undefined if they are those of the last job. */
  readonly paths: string | undefined
  readonly found: SharedArrayBuffer
  readonly control: SharedArrayBuffer
}

const MIN_PATHS = 2000

export class StatAhead {
  readonly #url: URL
  #worker: Worker | undefined
  #root: FolderNode | undefined
  #found = new BigUint64Array(new SharedArrayBuffer(0))
  #control = new Int32Array(new SharedArrayBuffer(8))
  #count = 0
  #unknown = 0

  constructor(url: URL) {
    this.#url = url
  }

  /** Sets the helper going on what is known below `root`. Not worth it for a small project. */
  start(root: FolderNode, absolute: string): void {
    const isDrifted = this.#unknown > this.#count / 20
    const paths = root === this.#root && !isDrifted ? undefined : this.#number(root, absolute)
    this.#root = root
    this.#unknown = 0
    if (this.#count < MIN_PATHS) return
    // Fresh for each scan, so that a helper still on an old one cannot be taken for done with this.
    const control = new SharedArrayBuffer(8)
    this.#control = new Int32Array(control)
    this.#control[HELPER_AT] = this.#count
    this.#worker ??= this.#startWorker()
    const found = this.#found.buffer as SharedArrayBuffer
    this.#worker.postMessage({ paths, found, control } satisfies StatJob)
  }

  /** What the helper found of a node, if it has got there. */
  take(node: Node): Stats | undefined {
    const place = node.place
    if (place === -1) {
      this.#unknown += 1
      return undefined
    }
    Atomics.store(this.#control, SCAN_AT, place)
    if (place < Atomics.load(this.#control, HELPER_AT)) return undefined
    const at = place * FIELDS
    return this.#found[at] === NOT_FOUND ? undefined : new FoundStats(this.#found, at)
  }

  /** The scan is over. */
  stop(): void {
    Atomics.store(this.#control, SCAN_AT, this.#count)
  }

  async close(): Promise<void> {
    await this.#worker?.terminate()
    this.#worker = undefined
    this.#root = undefined
  }

  #number(root: FolderNode, absolute: string): string {
    const paths: string[] = []
    visitNodes(root, (node, folder) => {
      if (node.kind === 'skipped') return
      node.place = paths.length
      paths.push(folder === '' ? `${absolute}/${node.name}` : `${absolute}/${folder}/${node.name}`)
    })
    this.#count = paths.length
    this.#found = new BigUint64Array(new SharedArrayBuffer(paths.length * FIELDS * 8))
    return paths.join('\0')
  }

  #startWorker(): Worker {
    const worker = new Worker(this.#url)
    worker.unref()
    return worker
  }
}

class FoundStats implements Stats {
  readonly mode: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly ino: bigint

  constructor(found: BigUint64Array, at: number) {
    this.mode = found[at] ?? 0n
    this.size = found[at + 1] ?? 0n
    // Times before 1970 are negative.
    this.mtimeNs = BigInt.asIntN(64, found[at + 2] ?? 0n)
    this.ctimeNs = BigInt.asIntN(64, found[at + 3] ?? 0n)
    this.ino = found[at + 4] ?? 0n
  }

  isFile(): boolean {
    return this.#type() === 0o100000
  }

  isDirectory(): boolean {
    return this.#type() === 0o040000
  }

  isSymbolicLink(): boolean {
    return this.#type() === 0o120000
  }

  #type(): number {
    return Number(this.mode) & 0o170000
  }
}
