// Stats cached paths on a second core. The helper thread works through the table from the end, the scan from the
// beginning; beyond the point where they meet, the scan uses the helper's verdicts. The scan stats the rest itself.
import type { Worker } from 'node:worker_threads'
import { workerThreads } from '../../../system/index.js'
import { columnsOf, type NodeTable } from './columns.js'
import type { Node } from './node.js'
import { StatTable, VERDICT } from './stat-table.js'

/** Indexes of the control words: the row the scan has reached, and the lowest row the helper has checked. */
export const SCAN_AT = 0
export const HELPER_AT = 1

/** Rows per step; at most this many are checked twice. */
export const ROWS_AT_ONCE = 64

export type StatJob = {
  /** A new table. */
  readonly table?: NodeTable & { readonly root: string; readonly verdicts: SharedArrayBuffer }
  /** Starts a pass through the table. */
  readonly control?: SharedArrayBuffer
}

const MIN_PATHS = 2000

export class StatWorkerClient {
  readonly #url: URL
  #worker: Worker | undefined
  #table: NodeTable | undefined
  #verdicts: Uint8Array<ArrayBufferLike> = new Uint8Array(0)
  #control: Int32Array<ArrayBufferLike> = new Int32Array(2)
  #root = ''
  #isComplete = false

  constructor(url: URL) {
    this.#url = url
  }

  /** Sets the table. A small project gets no thread. */
  arm(table: NodeTable, root: string): void {
    this.#table = table.count < MIN_PATHS ? undefined : table
    this.#root = root
    if (this.#table === undefined) return
    const verdicts = new SharedArrayBuffer(table.count)
    this.#verdicts = new Uint8Array(verdicts)
    this.#worker ??= this.#start()
    this.#worker.postMessage({ table: { ...table, root, verdicts } } satisfies StatJob)
  }

  /** Starts a pass of the helper. */
  begin(): void {
    // New memory for each scan: a helper that still works on an old one must not appear to be done.
    const control = new SharedArrayBuffer(8)
    this.#control = new Int32Array(control)
    this.#isComplete = false
    this.#control[HELPER_AT] = Number.MAX_SAFE_INTEGER
    if (this.#table === undefined) return
    this.#control[HELPER_AT] = this.#table.count
    this.#worker?.postMessage({ control } satisfies StatJob)
  }

  /**
   * Checks the whole table before the scan: from the beginning until it meets the helper. Returns the changed rows;
   * undefined without a table.
   */
  complete(): readonly number[] | undefined {
    if (this.#table === undefined) return undefined
    const verdicts = this.#verdicts
    const table = new StatTable(this.#table, this.#root)
    for (let from = 0; from < Atomics.load(this.#control, HELPER_AT); ) {
      const to = Math.min(from + ROWS_AT_ONCE, Atomics.load(this.#control, HELPER_AT))
      table.check(from, to, verdicts)
      Atomics.store(this.#control, SCAN_AT, to)
      from = to
    }
    this.#isComplete = true
    const changed: number[] = []
    for (let at = verdicts.indexOf(VERDICT.changed); at !== -1; ) {
      changed.push(at)
      at = verdicts.indexOf(VERDICT.changed, at + 1)
    }
    return changed
  }

  /** True if the path was checked during this scan and is as the node says. */
  isSame({ row }: Node): boolean {
    if (row === -1 || this.#table === undefined) return false
    if (this.#isComplete) return this.#verdicts[row] === VERDICT.same
    Atomics.store(this.#control, SCAN_AT, row)
    return row >= Atomics.load(this.#control, HELPER_AT) && this.#verdicts[row] === VERDICT.same
  }

  /** Call at the end of the scan. */
  end(): void {
    Atomics.store(this.#control, SCAN_AT, 0x7fffffff)
  }

  /** Copies changed stamps and modes into the table. */
  update(nodes: readonly Node[]): void {
    if (this.#table === undefined) return
    const columns = columnsOf(this.#table)
    for (const node of nodes) {
      if (node.row === -1 || node.kind === 'skipped') continue
      columns.sizes[node.row] = node.size
      columns.mtimes[node.row] = node.mtimeNs
      columns.ctimes[node.row] = node.ctimeNs
      columns.inos[node.row] = node.ino
      columns.modes[node.row] = node.mode
    }
  }

  /** Does not wait for the helper to end: it only reads. */
  close(): void {
    void this.#worker?.terminate()
    this.#worker = undefined
    this.#table = undefined
  }

  #start(): Worker {
    const { Worker: Thread } = workerThreads()
    const worker = new Thread(this.#url, {
      execArgv: [],
      resourceLimits: { maxYoungGenerationSizeMb: 16 },
    })
    worker.unref()
    // If it fails, the scan does its work.
    worker.on('error', () => undefined)
    return worker
  }
}
