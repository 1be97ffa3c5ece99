// Changes the key of the ledger: to another one, to the first one, or to none. It writes a new ledger beside the old one, sealed
// with the new key, and replaces the old one by it in one rename (I2). Until then nothing has happened.
import { hash } from 'node:crypto'
import { rmSync } from 'node:fs'
import { type CheckpointId, type ObjectId, SavestateError } from '../../model/index.js'
import {
  eventLoopTurn,
  failpoint,
  openDatabase,
  type SqlRow,
  syncFile,
} from '../../system/index.js'
import type { CheckedDatabase } from '../checked-database.js'
import { copyRowSteps, runToEnd, tablesOf } from '../maintenance/copy-rows.js'
import { ledgerFiles } from '../ledger-files.js'
import { number, text } from '../rows.js'
import { createTables } from '../schema.js'
import { type SealingKey, StoreVault } from '../encryption/index.js'
import { allowShrinking } from '../maintenance/vacuum.js'
import { RESEAL } from './reseal-rows.js'

/** The key that all values are to be sealed with; undefined: none. */
export type Target = SealingKey | undefined

export type RekeyPlan = {
  /** The id of the key that everything is to be sealed with; null: none. */
  readonly to: string | null
  /** The id of the key that is in use now, if it is another one. */
  readonly from: readonly string[]
  /** How many rows have values to seal again, by table; only those with any. */
  readonly rows: Readonly<Record<string, number>>
  readonly total: number
  /** False: everything is sealed with that key already. */
  readonly isNeeded: boolean
}

export type Rekeyed = {
  readonly moved: number
  /** Rows that no key opens: they were damaged before, and stay as they are. */
  readonly damaged: number
}

export type RekeyOptions = {
  readonly nowMs: number
  readonly onRows: (rows: number) => void
}

/** Progress is reported after so many rows. */
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

  /** The key that was given to change to, or else the one that was given. */
  get givenKey(): Target {
    return this.#vault.given.newKey ?? this.#vault.given.key
  }

  /** Throws KEY_MISSING or KEY_WRONG if a key is needed that was not given. */
  plan(target: Target): RekeyPlan {
    const current = this.#database.get('SELECT id, seals_all FROM keys WHERE retired_at IS NULL')
    const id = current === undefined ? null : text(current, 'id')
    const to = target?.id ?? null
    const isNeeded = id !== to || current?.['seals_all'] === 0
    if (target !== undefined) this.#vault.refuseRetired(target)
    if (!isNeeded) return { to, from: [], rows: {}, total: 0, isNeeded }
    const from = id === null || id === to ? [] : [id]
    for (const needed of from) this.#vault.keyFor(needed)
    const counts = Object.keys(RESEAL).map((table) => [table, this.#count(table)] as const)
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
      try {
        const before = this.#changeMark()
        const steps = this.#write(rekeyed, target, options)
        const result = attempt < MAX_ATTEMPTS ? await this.#runInSlices(steps) : runToEnd(steps)
        // No await from here on: a write between this check and the rename would be lost.
        if (result === undefined || this.#changeMark() !== before) continue
        syncFile(rekeyed)
        failpoint('rekey:copied')
        this.#database.replaceBy(rekeyed)
        failpoint('rekey:replaced')
        return result
      } finally {
        removeHalfRekeyed(this.#home)
      }
    }
  }

  /** Undefined if the ledger was written meanwhile: the copy may lack rows. */
  async #runInSlices<Result>(steps: Generator<void, Result>): Promise<Result | undefined> {
    const before = this.#changeMark()
    for (;;) {
      const startMs = performance.now()
      do {
        const step = steps.next()
        if (step.done === true) return step.value
      } while (performance.now() - startMs < SLICE_MS)
      await eventLoopTurn()
      if (this.#changeMark() === before) continue
      steps.return(undefined as Result)
      return undefined
    }
  }

  /** Differs after any write to the ledger, by this connection or by another one. */
  #changeMark(): string {
    const own = this.#database.get('SELECT total_changes() AS count')
    const others = this.#database.get('PRAGMA file.data_version')
    return `${number(own ?? {}, 'count')} ${number(others ?? {}, 'data_version')}`
  }

  /**
   * Inside a transaction. Another reason, and the commit that has it as its message. Details name the calls that changed ignored
   * files by their commands.
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
    const target = openDatabase(path, { timeoutMs: 0 })
    try {
      target.exec('PRAGMA foreign_keys = OFF')
      allowShrinking(target)
      createTables(target)
      let [moved, damaged] = [0, 0]
      const resealing = { vault: this.#vault, key, target }
      const reseal = (table: string, row: SqlRow): SqlRow => {
        const seal = RESEAL[table]
        if (seal === undefined) return row
        try {
          const changed = seal(row, resealing)
          if (Object.keys(changed).length > 0) moved += 1
          if (moved % ROWS_PER_REPORT === 0) onRows(moved)
          return { ...row, ...changed }
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
      if (key !== undefined) new StoreVault(target, { key }).note(key)
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

/** Removes what a killed change of the key left. The caller holds the store's lock, so no other process is changing the key. */
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
