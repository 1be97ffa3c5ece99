// Records where imported checkpoints came from, and orders them before the checkpoints that were saved here.
import type { CheckpointId } from '../../model/index.js'
import { number } from '../rows.js'
import { LedgerTable } from '../ledger-table.js'

// Imported checkpoints have negative sequence numbers, below all checkpoints that were saved here. Each second has its own range.
const LOWEST_SEQ = -Number.MAX_SAFE_INTEGER
const SEQS_PER_SECOND = 2 ** 20
const SEQS_PER_MS = 2 ** 10
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

  /**
   * The place of a checkpoint from another machine: by its time, before all that were saved here. Undefined for the end: something that
   * was saved here is older, or it continues such a checkpoint. So a store that is brought back from a remote has its order again, in
   * which sessions take turns. Call it before the row is added.
   */
  seqByTime({
    atMs,
    after,
  }: {
    readonly atMs: number
    readonly after: string | null
  }): number | undefined {
    const first = this.database.get(
      'SELECT created_at FROM checkpoints WHERE seq >= 0 ORDER BY seq LIMIT 1',
    )
    if (first !== undefined && number(first, 'created_at') <= atMs) return undefined
    const row = this.database.get('SELECT seq FROM checkpoints WHERE id = ?', after)
    const previous = row === undefined ? LOWEST_SEQ : number(row, 'seq')
    if (previous >= 0) return undefined
    const second = Math.min(MAX_SECOND, Math.max(0, Math.floor(atMs / 1000)))
    const ms = Math.max(0, atMs) % 1000
    const start = Math.max(LOWEST_SEQ + second * SEQS_PER_SECOND + ms * SEQS_PER_MS, previous + 1)
    const end = LOWEST_SEQ + (Math.floor((start - LOWEST_SEQ) / SEQS_PER_MS) + 1) * SEQS_PER_MS
    const sql = 'SELECT max(seq) AS seq FROM checkpoints WHERE seq >= ? AND seq < ?'
    const taken = this.database.get(sql, start, end)?.['seq']
    const seq = typeof taken === 'number' ? taken + 1 : start
    return seq < end ? seq : undefined
  }
}
