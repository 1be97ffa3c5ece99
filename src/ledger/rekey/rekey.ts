// Moves every value of the ledger to another key, to the first one, or to none. In small transactions: other processes
// write in between, with the new key. Killed anywhere, it is done again from the start and passes over what is done.
import { hash } from 'node:crypto'
import { type CheckpointId, invariant, type ObjectId, SavestateError } from '../../model/index.js'
import { type Database, isBusy, type SqlRow } from '../../system/index.js'
import { number, optional, text } from '../rows.js'
import type { StoreVault } from '../sealing/index.js'
import { type Mover, MOVERS } from './movers.js'
import type { Target } from './stale.js'

export type RekeyPlan = {
  /** The id of the key that everything is to be sealed with; null: with none. */
  readonly to: string | null
  /** The ids of the other keys that are in use. */
  readonly from: readonly string[]
  /** A move was begun and not ended. */
  readonly isUnderWay: boolean
  /** How many rows are to be moved, by table; only those with any. */
  readonly rows: Readonly<Record<string, number>>
  readonly total: number
  /** False: all is as it is to be. */
  readonly isNeeded: boolean
}

export type Batch = { readonly moved: number; readonly damaged: number }

const ROWS_AT_ONCE = 128
/** So that few large rows do not make a long transaction. */
const CHARS_AT_ONCE = 4_000_000

export class Rekey {
  readonly #database: Database
  readonly #vault: StoreVault

  constructor(database: Database, vault: StoreVault) {
    this.#database = database
    this.#vault = vault
  }

  /** The key that was given to change to, or else the one that was given. */
  get givenKey(): Target {
    return this.#vault.given.newKey ?? this.#vault.given.key
  }

  /** Throws KEY_MISSING or KEY_WRONG if a key is needed that was not given. */
  plan(target: Target): RekeyPlan {
    const keys = this.#database
      .all('SELECT id FROM keys WHERE retired_at IS NULL ORDER BY created_at, id')
      .map((row) => String(row['id']))
    const under = this.#database.get('SELECT key FROM rekey')
    const rows = Object.fromEntries(
      MOVERS.map((mover) => [mover.table, this.#count(mover, target)] as const).filter(
        ([, count]) => count > 0,
      ),
    )
    const total = Object.values(rows).reduce((sum, count) => sum + count, 0)
    const to = target?.id ?? null
    const from = keys.filter((id) => id !== to)
    if (total > 0) for (const id of from) this.#vault.keyFor(id)
    const now = under === undefined ? (keys[0] ?? null) : optional(under, 'key')
    const isUnderWay = under !== undefined
    return { to, from, isUnderWay, rows, total, isNeeded: total > 0 || isUnderWay || now !== to }
  }

  /** From here on everything is written with the new key. Throws KEY_WRONG for one that was retired. */
  begin(target: Target, atMs: number): void {
    this.#database.transaction(() => {
      if (target !== undefined) this.#vault.note(target)
      this.#database.run(
        'INSERT OR REPLACE INTO rekey (only, key, started_at) VALUES (1, ?, ?)',
        target?.id ?? null,
        atMs,
      )
      this.#forgetMemories()
    })
  }

  /** A batch at a time. What is damaged stays as it is: it cannot be read with any key. */
  *move(target: Target): Generator<Batch, void, undefined> {
    // What is overwritten is overwritten with zeros too, where the new row does not take its place.
    this.#database.exec('PRAGMA file.secure_delete = ON')
    for (const mover of MOVERS) {
      let after: readonly number[] = mover.order.map(() => 0).with(-1, -1)
      for (;;) {
        const batch = this.#database.transaction(() => this.#moveSome(mover, { target, after }))
        if (batch.last === undefined) break
        after = batch.last
        yield batch
      }
    }
  }

  /**
   * Inside a transaction. Another reason, and the commit that has it as its message. The calls that changed ignored files
   * are named by their commands in the details.
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

  /** The notes of agents' hooks have the last prompt and the calls under way. Without them a row is named less well. */
  dropHookNotes(): void {
    this.#database.run(`DELETE FROM facts WHERE key GLOB 'note:hook:*'`)
  }

  /** So that nothing of what was there before is in any file. Throws REKEY_UNFINISHED while others keep it from that. */
  erase(): void {
    try {
      this.#database.exec('VACUUM file')
    } catch (error) {
      if (isBusy(error)) throw unfinished(error)
      throw error
    }
    const row = this.#database.get('PRAGMA file.wal_checkpoint(TRUNCATE)')
    if (row?.['busy'] !== 0) throw unfinished()
  }

  /** Only now are the other keys no longer needed. */
  finish(target: Target, atMs: number): void {
    this.#database.transaction(() => {
      this.#database.run(
        'UPDATE keys SET retired_at = ? WHERE retired_at IS NULL AND id IS NOT ?',
        atMs,
        target?.id ?? null,
      )
      this.#database.run('DELETE FROM rekey')
      this.#forgetMemories()
    })
    this.#database.exec('PRAGMA file.secure_delete = OFF')
  }

  #count(mover: Mover, target: Target): number {
    const { sql, values } = mover.stale(target)
    const found = `SELECT count(*) AS count FROM ${mover.table} WHERE ${sql}`
    return number(this.#database.get(found, ...values) ?? {}, 'count')
  }

  #moveSome(
    mover: Mover,
    { target, after }: { readonly target: Target; readonly after: readonly number[] },
  ): Batch & { readonly last: readonly number[] | undefined } {
    const { table, order } = mover
    const { sql, values } = mover.stale(target)
    const columns = order.join(', ')
    const marks = order.map(() => '?').join(', ')
    const rows = this.#database.all(
      `SELECT * FROM ${table} WHERE (${columns}) > (${marks}) AND ${sql}
       ORDER BY ${columns} LIMIT ${ROWS_AT_ONCE}`,
      ...after,
      ...values,
    )
    const moving = { database: this.#database, vault: this.#vault, target }
    let [damaged, chars] = [0, 0]
    const done: SqlRow[] = []
    for (const row of rows) {
      if (chars > CHARS_AT_ONCE) break
      chars += sizeOf(row)
      done.push(row)
      try {
        mover.move(moving, row)
      } catch (error) {
        if (!(error instanceof SavestateError) || error.code !== 'STORE_DAMAGED') throw error
        damaged += 1
      }
    }
    const last = done.at(-1)
    return {
      moved: done.length - damaged,
      damaged,
      last: last === undefined ? undefined : order.map((column) => number(last, column)),
    }
  }

  /** What processes remember of states was made with another key. */
  #forgetMemories(): void {
    const { changes } = this.#database.run('UPDATE state_generation SET number = number + 1')
    invariant(changes === 1, 'the states have a generation')
  }
}

function sizeOf(row: SqlRow): number {
  let size = 0
  for (const value of Object.values(row))
    if (typeof value === 'string' || value instanceof Uint8Array) size += value.length
  return size
}

function unfinished(cause?: unknown): SavestateError {
  const message = 'Other programs have the store open, so its files cannot be rewritten now'
  return new SavestateError('REKEY_UNFINISHED', message, {
    hint: 'Everything has its new key. Close them and run `savestate rekey` again to finish.',
    cause,
  })
}
