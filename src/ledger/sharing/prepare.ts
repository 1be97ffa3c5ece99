// Encodes the changes of a log as one segment, and keeps it until the remote has confirmed it (docs/internals/shared.md#order-of-writes).
import {
  checkpointRows,
  invariant,
  type LogPosition,
  SHARED_TABLES,
  type SharedTable,
} from '../../model/index.js'
import type { Database } from '../../system/index.js'
import type { Vault } from '../encryption/index.js'
import { number, optional, statusOf } from '../rows.js'
import { type Changes, collectRows } from './collect-rows.js'
import { type LogRow } from './logs.js'
import { isSave } from './members.js'
import { LogNumbers } from './numbers.js'
import {
  type CommitFacts,
  type EncodeSegment,
  type OutboxFacts,
  type Pending,
  type PreparedSegment,
  readPending,
  storePending,
} from './outbox.js'
import { findUnsharedPacks, markShared } from './packs.js'
import { SegmentWriter } from './segment-writer.js'

type Store = { readonly database: Database; readonly vault: Vault }

/** Inside a transaction. Undefined if nothing has changed. */
export function prepareSegment(
  store: Store,
  log: LogRow,
  encode: EncodeSegment,
): PreparedSegment | undefined {
  if (log.isDeleted) return undefined
  const pending = readPending(store, log.key) ?? encodeChanges(store, log, encode)
  if (pending === undefined) return undefined
  const { segment, facts } = pending
  const { isBase, status, card, checkpoints, removedCheckpoints, isRemoval } = facts
  const ids = checkpoints.map(({ id }) => id)
  const packs = findUnsharedPacks(store.database, ids)
  const commit: CommitFacts = {
    isBase,
    status,
    card,
    checkpoints,
    removedCheckpoints,
    isRemoval,
  }
  return { ...commit, before: log.position, segment, packs }
}

/**
 * Inside a transaction. The remote has the segment that ends at this position. Another process of this store may have learned it first, and
 * have prepared the next one, which the remote need not have.
 */
export function acknowledgeSegment(store: Store, log: LogRow, position: LogPosition): void {
  const pending = readPending(store, log.key)
  if (pending === undefined || pending.segment.hash !== position.hash) return
  const { isBase, nextStep, checkpoints } = pending.facts
  const { database } = store
  markShared(
    database,
    checkpoints.map(({ id }) => id),
  )
  database.run(
    `UPDATE shared_logs SET next_n = ?, epoch = ?, hash = ?, next_step = ?, needs_base = iif(?, 0, needs_base) WHERE key = ?`,
    position.nextN,
    position.epoch,
    position.hash,
    nextStep,
    isBase ? 1 : 0,
    log.key,
  )
  database.run('DELETE FROM shared_outbox WHERE log = ?', log.key)
}

function encodeChanges(store: Store, log: LogRow, encode: EncodeSegment): Pending | undefined {
  const { database, vault } = store
  const { key, owner, needsBase: isBase, position } = log
  const changes = isBase ? null : readChanges(database, key)
  if (changes?.size === 0) return undefined
  const numbers = new LogNumbers(database, { log: key, next: log.nextNumber, isEmpty: isBase })
  const writer = new SegmentWriter(database, vault, numbers)
  const { rows, removed } = collectRows({ database, vault, writer, owner }, log.log.kind, changes)
  database.run('DELETE FROM shared_changes WHERE log = ?', key)
  // A value that was added and removed again.
  if (!isBase && Object.keys(rows).length === 0 && Object.keys(removed).length === 0)
    return undefined
  const nextNumber = numbers.next
  const content = { version: 1, isBase, nextNumber, ...writer.content, rows, removed } as const
  const segment = encode(content, { n: position.nextN, prev: isBase ? null : position.hash })
  invariant(segment.n === position.nextN, 'a segment has the number that it was encoded for')
  numbers.flush()
  database.run('UPDATE shared_logs SET next_number = ? WHERE key = ?', nextNumber, key)
  const facts: OutboxFacts = {
    isBase,
    ...describe(database, log),
    checkpoints: checkpointRows(rows).map(({ id, step, pack }) => ({
      id: String(id),
      // A save has none.
      step: Number(step ?? 0),
      pack: pack === null || pack === undefined ? null : String(pack),
    })),
    removedCheckpoints: checkpointRows(removed).map(({ id }) => String(id)),
    isRemoval: checkpointRows(removed).length > 0 || removed.graph_checkpoints !== undefined,
    firstNumber: log.nextNumber,
    changes: [...(changes ?? [])],
  }
  storePending(store, key, { segment, facts })
  return { segment, facts }
}

function readChanges(database: Database, log: number): NonNullable<Changes> {
  const changes = new Map<SharedTable, string[]>()
  const rows = database.all('SELECT kind, row FROM shared_changes WHERE log = ?', log)
  for (const row of rows) {
    const table = SHARED_TABLES.find((each) => each === row['kind'])
    invariant(table !== undefined, 'a change names a shared table')
    const keys = changes.get(table) ?? []
    changes.set(table, keys)
    keys.push(String(row['row']))
  }
  return changes
}

function describe(
  database: Database,
  { log, owner }: LogRow,
): Pick<OutboxFacts, 'status' | 'card' | 'nextStep'> {
  if (log.kind !== 'session') {
    const sql =
      log.kind === 'thread'
        ? 'SELECT count(*) AS steps FROM graph_checkpoints WHERE thread = ?1'
        : `SELECT count(*) AS steps FROM checkpoints AS it WHERE ${isSave('it')}`
    const steps = number(database.get(sql, owner) ?? {}, 'steps')
    const card = { agent: null, project: null, steps, reason: null, statusReason: null, ages: null }
    return { status: 'completed', card, nextStep: 0 }
  }
  const row = database.get(
    `SELECT sessions.*, checkpoints.reason,
       (SELECT created_at FROM checkpoints WHERE session = sessions.key ORDER BY step LIMIT 1) AS first_at FROM sessions LEFT JOIN checkpoints ON checkpoints.id = head
     WHERE key = ?`,
    owner,
  )
  invariant(row !== undefined, 'a shared session has a row')
  const [status, steps] = [statusOf(row).state, number(row, 'next_step')]
  const untilMs = number(row, 'updated_at')
  const fromMs = row['first_at'] === null ? untilMs : number(row, 'first_at')
  const card = {
    agent: optional(row, 'agent'),
    project: null,
    steps,
    reason: optional(row, 'reason'),
    statusReason: optional(row, 'status_reason'),
    ages: { fromMs, untilMs },
  }
  return { status, card, nextStep: steps }
}
