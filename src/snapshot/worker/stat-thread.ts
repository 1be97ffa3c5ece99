// The entry point of the helper thread behind StatWorkerClient.
import { parentPort } from 'node:worker_threads'
import {
  HELPER_AT,
  ROWS_AT_ONCE,
  SCAN_AT,
  type StatJob,
} from '../capture/stat-cache/stat-worker-client.js'
import { StatTable } from '../capture/stat-cache/stat-table.js'

let known: StatTable | undefined
let verdicts: Uint8Array<ArrayBufferLike> = new Uint8Array(0)

parentPort?.on('message', ({ table, control }: StatJob) => {
  if (table !== undefined) {
    known = new StatTable(table, table.root)
    verdicts = new Uint8Array(table.verdicts)
  }
  if (control !== undefined && known !== undefined) checkFromEnd(known, new Int32Array(control))
})

function checkFromEnd(table: StatTable, control: Int32Array): void {
  for (let to = table.count; to > Atomics.load(control, SCAN_AT); ) {
    const from = Math.max(0, to - ROWS_AT_ONCE)
    table.check(from, to, verdicts)
    Atomics.store(control, HELPER_AT, from)
    to = from
  }
}
