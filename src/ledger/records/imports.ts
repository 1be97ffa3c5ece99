// Records where imported checkpoints came from, and orders them before the checkpoints that were saved here.
import type { CheckpointId } from '../../model/index.js'
import { number } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

// Imported checkpoints have negative sequence numbers, below all checkpoints that were saved here. Each second has its own range.
const LOWEST_SEQ = -Number.MAX_SAFE_INTEGER
const SEQS_PER_SECOND = 2 ** 20
const MAX_SECOND = 2 ** 32 - 1

export class Imports extends LedgerTable {
  importedAs(origin: string): string | undefined {
    const row = this.database.get('SELECT checkpoint FROM imports WHERE origin = ?', origin)
    return row === undefined ? undefined : String(row['checkpoint'])
  }

  originOf(checkpoint: CheckpointId): string | undefined {
    const row = this.database.get('SELECT origin FROM imports WHERE checkpoint = ?', checkpoint)
    return row === undefined ? undefined : String(row['origin'])
  }

  /** Inside the transaction that adds the checkpoint. Replaces the record of an earlier import whose checkpoint was removed. */
  record(origin: string, checkpoint: CheckpointId, atMs: number): void {
    const sql = 'INSERT OR REPLACE INTO imports (origin, checkpoint, at) VALUES (?, ?, ?)'
    this.database.run(sql, origin, checkpoint, atMs)
  }

  /**
   * Inside the transaction that adds the checkpoint. Orders it before all checkpoints that were saved here, and among the imported
   * ones by time, after `after`. So it is never the newest, and no number in a list changes.
   */
  place(
    id: CheckpointId,
    { atMs, after }: { readonly atMs: number; readonly after: CheckpointId | null },
  ): void {
    const row = this.database.get('SELECT seq FROM checkpoints WHERE id = ?', after)
    const previous = row === undefined ? undefined : number(row, 'seq')
    // It continues a checkpoint that was saved here, so it stays after that one.
    if (previous !== undefined && previous >= 0) return
    const second = Math.min(MAX_SECOND, Math.max(0, Math.floor(atMs / 1000)))
    const earliest = LOWEST_SEQ + second * SEQS_PER_SECOND
    const start = Math.max(earliest, (previous ?? LOWEST_SEQ) + 1)
    const end =
      LOWEST_SEQ + (Math.floor((start - LOWEST_SEQ) / SEQS_PER_SECOND) + 1) * SEQS_PER_SECOND
    const sql = 'SELECT max(seq) AS seq FROM checkpoints WHERE seq >= ? AND seq < ?'
    const taken = this.database.get(sql, start, end)
    const seq = typeof taken?.['seq'] === 'number' ? taken['seq'] + 1 : start
    this.database.run('UPDATE checkpoints SET seq = ? WHERE id = ?', seq, id)
  }
}
