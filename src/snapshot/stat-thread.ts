// The helper behind StatAhead.
import { parentPort } from 'node:worker_threads'
import { HELPER_AT, ROWS_AT_ONCE, SCAN_AT, type StatJob } from './capture/stat-ahead.js'
import { TableLook } from './capture/table-look.js'

let look: TableLook | undefined
let verdicts: Uint8Array<ArrayBufferLike> = new Uint8Array(0)

parentPort?.on('message', ({ table, control }: StatJob) => {
  if (table !== undefined) {
    look = new TableLook(table, table.root)
    verdicts = new Uint8Array(table.verdicts)
  }
  if (control !== undefined && look !== undefined) lookThrough(look, new Int32Array(control))
})

function lookThrough(rows: TableLook, control: Int32Array): void {
  for (let to = rows.count; to > Atomics.load(control, SCAN_AT); ) {
    const from = Math.max(0, to - ROWS_AT_ONCE)
    rows.judge(from, to, verdicts)
    Atomics.store(control, HELPER_AT, from)
    to = from
  }
}
