// Changes the key of the ledger, encrypts it for the first time, or decrypts it. It writes a new ledger beside the old one, sealed
// with the new key, and replaces the old one with one rename (I2). A crash before the rename changes nothing.
import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type CheckpointId, type ObjectId, SavestateError } from '../../model/index.js'
import { yieldToEventLoop, failpoint, type SqlRow, syncFile } from '../../system/index.js'
import { type CheckedDatabase, readChangeMark } from '../checked-database.js'
import { copyRowSteps, createLedger, tablesOf } from '../maintenance/copy-rows.js'
import { ledgerFiles } from '../ledger-files.js'
import { number, text } from '../rows.js'
import { type SealingKey, StoreVault } from '../encryption/index.js'
import { RESEALED_TABLES, resealRow } from './reseal-rows.js'

/** The key to seal all values with; undefined decrypts them. */
export type Target = SealingKey | undefined

export type RekeyPlan = {
  /** The id of the key to seal all values with; null decrypts them. */
  readonly to: string | null
  /** The id of the current key, if it is a different one. */
  readonly from: readonly string[]
  /** How many rows have values to seal, by table; without the tables that have none. */
  readonly rows: Readonly<Record<string, number>>
  readonly total: number
  /** False if all values are sealed with that key already. */
  readonly isNeeded: boolean
}

export type Rekeyed = {
  readonly moved: number
  /** Rows that were damaged before. They are copied unchanged. */
  readonly damaged: number
}

export type RekeyOptions = {
  readonly nowMs: number
  readonly onRows: (rows: number) => void
}

/** How often to report progress. */
const ROWS_PER_REPORT = 1024
/** The copy lets the event loop run after this (I12). Copying 100 MB takes about ten seconds. */
const SLICE_MS = 10
/** Other calls of this process may write during the pauses, and then the copy starts again. The last attempt does not pause. */
const MAX_ATTEMPTS = 3

export class Rekey {
  readonly #home: string
  readonly #database: CheckedDatabase
  readonly #vault: StoreVault

  constructor(home: string, database: CheckedDatabase, vault: StoreVault) {
    this.#home = home
    this.#database = database
    this.#vault = vault
  }

  /** The caller's new key, or else its key. */
  get givenKey(): Target {
    return this.#vault.given.newKey ?? this.#vault.given.key
  }

  /** Throws KEY_MISSING or KEY_WRONG if the caller did not pass the current key. */
  plan(target: Target): RekeyPlan {
    const current = this.#database.get('SELECT id, seals_all FROM keys WHERE retired_at IS NULL')
    const id = current === undefined ? null : text(current, 'id')
    const to = target?.id ?? null
    const isNeeded = id !== to || current?.['seals_all'] === 0
    if (target !== undefined) this.#vault.refuseRetired(target)
    if (!isNeeded) return { to, from: [], rows: {}, total: 0, isNeeded }
    const from = id === null || id === to ? [] : [id]
    for (const needed of from) this.#vault.keyFor(needed)
    const counts = RESEALED_TABLES.map((table) => [table, this.#count(table)] as const)
    const rows = Object.fromEntries(counts.filter(([, count]) => count > 0))
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
    return { to, from, rows, total, isNeeded }
  }

  /**
   * The caller holds the store's lock alone. Throws STORE_BUSY if another connection still has the ledger open; then nothing has
   * changed.
   */
  async rewrite(target: Target, options: RekeyOptions): Promise<Rekeyed> {
    const { rekeyed } = ledgerFiles(this.#home)
    for (let attempt = 1; ; attempt += 1) {
      removeHalfRekeyed(this.#home)
      const before = readChangeMark(this.#database)
      const steps = this.#write(rekeyed, target, options)
      try {
        let step = steps.next()
        for (let startMs = performance.now(); step.done !== true; step = steps.next()) {
          if (attempt === MAX_ATTEMPTS || performance.now() - startMs < SLICE_MS) continue
          await yieldToEventLoop()
          // After a write the copy may lack rows, so the rest of it is useless. Throws STORE_CLOSED.
          if (readChangeMark(this.#database) !== before) break
          startMs = performance.now()
        }
        // No await from here on: a write between this check and the rename would be lost.
        if (step.done !== true || readChangeMark(this.#database) !== before) continue
        syncFile(rekeyed)
        failpoint('rekey:copied')
        this.#database.replaceBy(rekeyed)
        failpoint('rekey:replaced')
        return step.value
      } finally {
        // Closes an unfinished copy: Windows does not remove an open file.
        steps.return({ moved: 0, damaged: 0 })
        removeHalfRekeyed(this.#home)
      }
    }
  }

  /**
   * Inside a transaction. Replaces the reason of a checkpoint, and the commit whose message it is. The details repeat the reason if
   * the call changed ignored files.
   */
  setReason(
    id: CheckpointId,
    { reason, commit }: { readonly reason: string; readonly commit: ObjectId | null },
  ): void {
    const set = 'UPDATE checkpoints SET reason = ?, "commit" = ? WHERE id = ?'
    this.#database.run(set, reason, commit, id)
    const row = this.#database.get(
      `SELECT json_set(json, '$.uncaptured.by', ?) AS json FROM details JOIN checkpoints ON details = hash
       WHERE id = ? AND json_type(json, '$.uncaptured.by') IS NOT NULL`,
      reason,
      id,
    )
    if (row === undefined) return
    const json = text(row, 'json')
    const digest = hash('sha256', json, 'hex')
    this.#database.run('INSERT OR IGNORE INTO details (hash, json) VALUES (?, ?)', digest, json)
    this.#database.run('UPDATE checkpoints SET details = ? WHERE id = ?', digest, id)
  }

  #count(table: string): number {
    const isSealed =
      table === 'sessions' || table === 'checkpoints' ? 'metadata IS NOT NULL' : 'TRUE'
    const row = this.#database.get(`SELECT count(*) AS count FROM ${table} WHERE ${isSealed}`)
    return number(row ?? {}, 'count')
  }

  *#write(path: string, key: Target, { nowMs, onRows }: RekeyOptions): Generator<void, Rekeyed> {
    const target = createLedger(path)
    try {
      let [moved, damaged] = [0, 0]
      const resealing = { vault: this.#vault, key, target }
      const reseal = (table: string, row: SqlRow): SqlRow => {
        try {
          const resealed = resealRow(table, row, resealing)
          if (resealed === row) return row
          moved += 1
          if (moved % ROWS_PER_REPORT === 0) onRows(moved)
          return resealed
        } catch (error) {
          if (!(error instanceof SavestateError) || error.code !== 'STORE_DAMAGED') throw error
          damaged += 1
          return row
        }
      }
      target.exec('BEGIN')
      const options = { tables: tablesOf(target), onConflict: 'REPLACE', change: reseal } as const
      const incomplete = yield* copyRowSteps(this.#database, target, options)
      if (incomplete.length > 0) throw damagedLedger(incomplete)
      target.run('DELETE FROM file.sqlite_sequence')
      for (const row of this.#database.all('SELECT name, seq FROM file.sqlite_sequence'))
        target.run(
          'INSERT INTO file.sqlite_sequence (name, seq) VALUES (?, ?)',
          text(row, 'name'),
          number(row, 'seq'),
        )
      if (key !== undefined) new StoreVault(target, { key }).recordKey(key)
      target.run(
        'UPDATE keys SET retired_at = ? WHERE retired_at IS NULL AND id IS NOT ?',
        nowMs,
        key?.id ?? null,
      )
      target.run('UPDATE keys SET seals_all = 1 WHERE retired_at IS NULL')
      // Cached views of states were made with another key.
      target.run('UPDATE state_generation SET number = number + 1')
      target.exec('COMMIT')
      target.exec('PRAGMA file.journal_mode = WAL')
      return { moved, damaged }
    } finally {
      target.close()
    }
  }
}

/** Removes the files of a rekey that was killed. The caller holds the lock of the store, so no other process is changing the key. */
export function removeHalfRekeyed(home: string): void {
  const { rekeyed } = ledgerFiles(home)
  for (const ending of ['', '-journal', '-wal', '-shm']) rmSync(rekeyed + ending, { force: true })
}

function damagedLedger(tables: readonly string[]): SavestateError {
  return new SavestateError(
    'STORE_DAMAGED',
    `The ledger is damaged: ${tables.join(', ')} cannot be read completely`,
    { hint: 'Run `savestate repair`, then `savestate rekey` again. The key has not been changed.' },
  )
}
