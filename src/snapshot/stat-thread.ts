// The helper behind StatAhead.
import { type BigIntStats, lstatSync } from 'node:fs'
import { parentPort } from 'node:worker_threads'
import { fsPath } from '../model/index.js'
import { type Columns, columnsOf, KINDS, pathsOf } from './capture/columns.js'
import { HELPER_AT, IS_SAME, SCAN_AT, type StatJob } from './capture/stat-ahead.js'

const LSTAT = { bigint: true, throwIfNoEntry: false } as const
const [FOLDER, FILE, LINK] = [KINDS.indexOf('folder'), KINDS.indexOf('file'), KINDS.indexOf('link')]

let paths: string[] = []
let columns: Columns = columnsOf(new SharedArrayBuffer(0))
let verdicts: Uint8Array<ArrayBufferLike> = new Uint8Array(0)

parentPort?.on('message', ({ table, control }: StatJob) => {
  if (table !== undefined) {
    paths = pathsOf(table, table.root)
    columns = columnsOf(table.columns)
    verdicts = new Uint8Array(table.verdicts)
  }
  if (control !== undefined) lookThrough(new Int32Array(control))
})

function lookThrough(control: Int32Array): void {
  for (let i = paths.length - 1; i > Atomics.load(control, SCAN_AT); i--) {
    const stats = look(i)
    verdicts[i] = stats !== undefined && isAsKnown(stats, i) ? IS_SAME : 0
    Atomics.store(control, HELPER_AT, i)
  }
}

/** Undefined for what is not looked at, has vanished, or cannot be looked at: the scan sees to those. */
function look(i: number): BigIntStats | undefined {
  const kind = columns.kinds[i]
  if (kind !== FOLDER && kind !== FILE && kind !== LINK) return undefined
  try {
    return lstatSync(fsPath(paths[i] ?? ''), LSTAT)
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined
    throw error
  }
}

function isAsKnown(stats: BigIntStats, i: number): boolean {
  const kind = columns.kinds[i]
  const isSameKind =
    kind === FILE ? stats.isFile() : kind === FOLDER ? stats.isDirectory() : stats.isSymbolicLink()
  return (
    isSameKind &&
    columns.ctimes[i] === stats.ctimeNs &&
    columns.mtimes[i] === stats.mtimeNs &&
    columns.inos[i] === stats.ino &&
    columns.sizes[i] === Number(stats.size) &&
    columns.modes[i] === (Number(stats.mode) & 0o7777)
  )
}
