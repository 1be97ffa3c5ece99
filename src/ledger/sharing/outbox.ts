// The pending segment of a log: encoded, and not confirmed by the remote yet. It is sent again, with the same bytes, until the remote has
// it or certainly never got it.
import {
  type LogCard,
  type LogNumber,
  type LogPosition,
  type SegmentContent,
  type SharedTable,
  type StatusWord,
} from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { openColumn, sealColumn, type Vault } from '../encryption/index.js'
import { insertRow, number, optional, text } from '../rows.js'
import { forgetNumbers, type LogKey } from './logs.js'
import type { SharedPack } from './packs.js'

/** As `EncodedSegment` of src/remote/remote.ts. */
export type SegmentBytes = {
  readonly n: number
  readonly prev: string | null
  readonly hash: string
  readonly body: Uint8Array
}

/** Compresses and seals. It runs inside a transaction, so it must not take long or use the ledger. */
export type EncodeSegment = (
  content: SegmentContent,
  position: { readonly n: number; readonly prev: string | null },
) => SegmentBytes

export type CommitFacts = {
  readonly isBase: boolean
  /** A thread or project counts as completed: no process can claim it. */
  readonly status: StatusWord
  /** Without the project, which the caller knows. */
  readonly card: LogCard
  /** The checkpoints in the segment, new or changed, with their packs. A base has all checkpoints of the session. */
  readonly checkpoints: readonly {
    readonly id: string
    readonly step: number
    readonly pack: string | null
  }[]
  readonly removedCheckpoints: readonly string[]
  /** Whether checkpoints of the session or thread were removed. */
  readonly isRemoval: boolean
}

/** A pending segment with the rest of its commit (`Commit` of src/remote/remote.ts). */
export type PreparedSegment = CommitFacts & {
  readonly before: LogPosition
  readonly segment: SegmentBytes
  /** The packs of its checkpoints that the remote is not known to have, parents first. */
  readonly packs: readonly SharedPack[]
}

export type OutboxFacts = CommitFacts & {
  /** Its own numbers begin here. */
  readonly firstNumber: LogNumber
  /** The steps of the session below this one are in it, or were sent before. */
  readonly nextStep: number
  /** The keys of the changed rows that it has. */
  readonly changes: readonly (readonly [SharedTable, readonly string[]])[]
}

export type Pending = { readonly segment: SegmentBytes; readonly facts: OutboxFacts }

type Store = { readonly database: Database; readonly vault: Vault }

export function readPending({ database, vault }: Store, log: LogKey): Pending | undefined {
  const row = database.get('SELECT * FROM shared_outbox WHERE log = ?', log)
  if (row === undefined) return undefined
  const body = Buffer.from(openColumn(vault, 'shared_outbox.body', row), 'base64')
  const segment = {
    n: number(row, 'n'),
    prev: optional(row, 'prev'),
    hash: text(row, 'hash'),
    body: new Uint8Array(body),
  }
  return { segment, facts: JSON.parse(text(row, 'facts')) as OutboxFacts }
}

export function storePending({ database, vault }: Store, log: LogKey, pending: Pending): void {
  const { n, prev, hash, body } = pending.segment
  const row = { log, n, prev, hash, body: Buffer.from(body).toString('base64') }
  const sealed = sealColumn(vault, 'shared_outbox.body', row)
  insertRow(database, 'shared_outbox', {
    ...row,
    body: sealed,
    facts: JSON.stringify(pending.facts),
  })
}

/** Inside a transaction. Its changes count as changes again, and its numbers are never used. */
export function retractPending(database: Database, key: LogKey): void {
  const row = database.get('SELECT facts FROM shared_outbox WHERE log = ?', key)
  if (row === undefined) return
  const { firstNumber, changes } = JSON.parse(text(row, 'facts')) as OutboxFacts
  database.run('DELETE FROM shared_numbers WHERE log = ? AND number >= ?', key, firstNumber)
  for (const [kind, rows] of changes)
    database.run(
      `INSERT OR IGNORE INTO shared_changes (log, kind, row) SELECT ?, ?, value FROM json_each(?)`,
      key,
      kind,
      JSON.stringify(rows),
    )
  database.run('DELETE FROM shared_outbox WHERE log = ?', key)
}

/** Inside a transaction. Everything of the log counts as changed. */
export function forgetSent(database: Database, log: LogKey): void {
  forgetNumbers(database, log)
  database.run('DELETE FROM shared_changes WHERE log = ?', log)
  database.run('DELETE FROM shared_outbox WHERE log = ?', log)
}
