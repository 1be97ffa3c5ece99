// Looks at known paths ahead of the scan, on a second core: the helper thread goes through the table from
// the end, the scan from the beginning, and where they meet the scan takes the helper's word that a path is
// unchanged. What the helper has not reached or finds different, the scan looks at itself.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import type { Worker } from 'node:worker_threads'
import type { ProjectId } from '../../../model/index.js'
import { workerThreads } from '../../../system/index.js'
import { columnsOf, type NodeTable } from './columns.js'
import type { Node } from './node.js'
import { StatTable, VERDICT } from './stat-table.js'

/** Places in the control words: how far the scan is, and down to where the helper has been. */
export const SCAN_AT = 0
export const HELPER_AT = 1

/** Each of both goes on by so many: what they then do twice is little. */
export const ROWS_AT_ONCE = 64

export type StatJob = {
  /** A table to work on from now on. */
  readonly table?: NodeTable & { readonly root: string; readonly verdicts: SharedArrayBuffer }
  /** Set for a look through the table. */
  readonly control?: SharedArrayBuffer
}

const MIN_PATHS = 2000
const LARGE_CACHE_BYTES = 200_000

/** Whether a helper will be of use: the stat cache of a project tells how many paths it has. */
export function hasLargeCache(home: string, project: ProjectId): boolean {
  const path = join(home, 'cache', project)
  return (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > LARGE_CACHE_BYTES
}

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

  /** Starts the thread ahead of need: it takes as long as reading the table does. */
  warmUp(): void {
    this.#worker ??= this.#start()
  }

  /** Not worth a thread for a small project. */
  arm(table: NodeTable, root: string): void {
    this.#table = table.count < MIN_PATHS ? undefined : table
    this.#root = root
    if (this.#table === undefined) return
    const verdicts = new SharedArrayBuffer(table.count)
    this.#verdicts = new Uint8Array(verdicts)
    this.#worker ??= this.#start()
    this.#worker.postMessage({ table: { ...table, root, verdicts } } satisfies StatJob)
  }

  /** Sets the helper going. */
  begin(): void {
    // Fresh for each scan, so that a helper still on an old one cannot be taken for done with this.
    const control = new SharedArrayBuffer(8)
    this.#control = new Int32Array(control)
    this.#isComplete = false
    this.#control[HELPER_AT] = Number.MAX_SAFE_INTEGER
    if (this.#table === undefined) return
    this.#control[HELPER_AT] = this.#table.count
    this.#worker?.postMessage({ control } satisfies StatJob)
  }

  /**
   * Looks at everything before the scan does: from the beginning, until the helper is met. The rows that have changed;
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

  /** True if the helper has been there during this scan and found the path as the node says. */
  isSame({ place }: Node): boolean {
    if (place === -1 || this.#table === undefined) return false
    if (this.#isComplete) return this.#verdicts[place] === VERDICT.same
    Atomics.store(this.#control, SCAN_AT, place)
    return place >= Atomics.load(this.#control, HELPER_AT) && this.#verdicts[place] === VERDICT.same
  }

  /** The scan is over. */
  end(): void {
    Atomics.store(this.#control, SCAN_AT, 0x7fffffff)
  }

  /** Nodes that have another stamp or mode now. */
  update(nodes: readonly Node[]): void {
    if (this.#table === undefined) return
    const columns = columnsOf(this.#table)
    for (const node of nodes) {
      if (node.place === -1 || node.kind === 'skipped') continue
      columns.sizes[node.place] = node.size
      columns.mtimes[node.place] = node.mtimeNs
      columns.ctimes[node.place] = node.ctimeNs
      columns.inos[node.place] = node.ino
      columns.modes[node.place] = node.mode
    }
  }

  /** Does not wait for the helper's end: it only looks, and nothing depends on it. */
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
    // What it does not do, the scan does.
    worker.on('error', () => undefined)
    return worker
  }
}
