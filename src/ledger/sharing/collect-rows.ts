// Reads the changed rows of a log in the form in which they are shared: with numbers in place of row ids, opened, and without the columns
// that mean nothing elsewhere.
import {
  type LogKind,
  SHARED_COLUMNS,
  SHARED_TABLES,
  type SharedRow,
  type SharedTable,
  type SharedValue,
  tablesOfLog,
} from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { openColumn, type SealedColumn, type Vault } from '../encryption/index.js'
import { optional, text } from '../rows.js'
import { isSave } from './members.js'
import type { SegmentWriter } from './segment-writer.js'

/** The keys of changed rows by table, as `note-changes.ts` writes them; null: all rows. */
export type Changes = ReadonlyMap<SharedTable, readonly string[]> | null

export type CollectedRows = {
  readonly rows: Partial<Record<SharedTable, readonly SharedRow[]>>
  readonly removed: Partial<Record<SharedTable, readonly SharedRow[]>>
}

type Source = {
  readonly database: Database
  readonly vault: Vault
  readonly writer: SegmentWriter
  /** As `LogRow.owner`. */
  readonly owner: number
}

type SealedPart = { readonly column: SealedColumn; readonly name: string }

const part = (column: SealedColumn): SealedPart => ({
  column,
  name: column.slice(column.indexOf('.') + 1),
})
const NOT_SEALED: readonly SealedPart[] = []
const SEALED: Readonly<Partial<Record<SharedTable, readonly SealedPart[]>>> = {
  session: [part('sessions.metadata')],
  checkpoints: [part('checkpoints.metadata')],
  tool_calls: [part('tool_calls.args'), part('tool_calls.outcome')],
  partials: [part('partials.value')],
  graph_checkpoints: [part('graph_checkpoints.facts'), part('graph_checkpoints.metadata')],
  graph_writes: [part('graph_writes.value')],
}

/** The columns of a table that the ledger seals, with their names in it. */
export function sealedColumnsOf(table: SharedTable): readonly SealedPart[] {
  return SEALED[table] ?? NOT_SEALED
}

type Query = {
  readonly from: string
  /** More columns, and the tables that they are in. */
  readonly also?: { readonly columns: string; readonly join: string }
  /** Rows of the owner, which is `?1`. */
  readonly ofOwner: string
  /** The row of a key that `note-changes.ts` has written, which is `key`. */
  readonly ofKey: string
  readonly order: string
}

const PACK_COLUMNS = `, packs.tree AS pack_tree, packs.pack, packs.is_local, packs.figures, packs.details AS pack_details`
const keyPart = (index: number) => `json_extract(wanted.value, '$[${index}]')`

const QUERIES: Readonly<Record<SharedTable, Query>> = {
  session: { from: 'sessions', ofOwner: 'it.key = ?1', ofKey: 'TRUE', order: 'it.key' },
  checkpoints: {
    from: 'checkpoints',
    also: {
      columns: PACK_COLUMNS,
      join: 'LEFT JOIN shared_packs AS packs ON packs.checkpoint = it.id',
    },
    ofOwner: 'session = ?1',
    ofKey: 'it.id = wanted.value',
    order: 'step',
  },
  tool_calls: {
    from: 'tool_calls',
    ofOwner: 'session = ?1',
    ofKey: 'seq = CAST(wanted.value AS INTEGER)',
    order: 'seq',
  },
  partials: {
    from: 'partials',
    ofOwner: 'call IN (SELECT seq FROM tool_calls WHERE session = ?1)',
    ofKey: `call = ${keyPart(0)} AND number = ${keyPart(1)}`,
    order: 'call, number',
  },
  saves: {
    from: 'checkpoints',
    also: {
      columns: PACK_COLUMNS,
      join: 'LEFT JOIN shared_packs AS packs ON packs.checkpoint = it.id',
    },
    ofOwner: isSave('it'),
    ofKey: 'it.id = wanted.value',
    order: 'seq',
  },
  thread: { from: 'threads', ofOwner: 'it.key = ?1', ofKey: 'TRUE', order: 'it.key' },
  graph_checkpoints: {
    from: 'graph_checkpoints',
    ofOwner: 'thread = ?1',
    ofKey: `ns = ${keyPart(0)} AND it.id = ${keyPart(1)}`,
    order: 'seq',
  },
  graph_writes: {
    from: 'graph_writes',
    ofOwner: 'thread = ?1',
    ofKey: `ns = ${keyPart(0)} AND checkpoint = ${keyPart(1)} AND task = ${keyPart(2)} AND idx = ${keyPart(3)}`,
    order: 'seq',
  },
}

/** Throws KEY_MISSING, KEY_WRONG or STORE_DAMAGED for a row that cannot be read. */
export function collectRows(source: Source, kind: LogKind, changes: Changes): CollectedRows {
  const rows: Partial<Record<SharedTable, readonly SharedRow[]>> = {}
  const removed: Partial<Record<SharedTable, readonly SharedRow[]>> = {}
  for (const table of tablesOfLog(kind)) {
    const keys = changes?.get(table)
    if (changes !== null && keys === undefined) continue
    const found = keys === undefined ? readAll(source, table) : readChanged(source, table, keys)
    const shared = found.map((row) => toSharedRow(source, table, row))
    if (table === 'saves' && changes === null) shared.unshift(...readArrivals(source))
    if (shared.length > 0) rows[table] = shared
    const kept = new Set(found.map((row) => row['changed_key']))
    const gone = keys?.filter((key) => !kept.has(key)) ?? []
    const goneKeys = gone.flatMap((key) => removedKey(source, table, key))
    if (goneKeys.length > 0) removed[table] = goneKeys
  }
  return { rows, removed }
}

function readAll({ database, owner }: Source, table: SharedTable): readonly SqlRow[] {
  const { from, also, ofOwner, order } = QUERIES[table]
  const sql = `SELECT it.*${also?.columns ?? ''} FROM ${from} AS it ${also?.join ?? ''} WHERE ${ofOwner} ORDER BY ${order}`
  return database.all(sql, owner)
}

function readChanged(
  { database, owner }: Source,
  table: SharedTable,
  keys: readonly string[],
): readonly SqlRow[] {
  const { from, also, ofOwner, ofKey, order } = QUERIES[table]
  const sql = `SELECT it.*, wanted.value AS changed_key${also?.columns ?? ''}
    FROM json_each(?2) AS wanted CROSS JOIN ${from} AS it ON ${ofKey} ${also?.join ?? ''}
    WHERE ${ofOwner} ORDER BY ${order}`
  return database.all(sql, owner, JSON.stringify(keys))
}

/** Saves whose files are on the remote only: they belong to the log too. */
function readArrivals({ database, writer, owner }: Source): readonly SharedRow[] {
  const sql = `SELECT saves.* FROM shared_saves AS saves JOIN shared_logs ON shared_logs.key = log
    WHERE owner = ? AND kind = 'project' ORDER BY saves.seq`
  return database.all(sql, owner).map((row) => {
    const details = optional(row, 'details')
    const columns = JSON.parse(text(row, 'row')) as SharedRow
    return { ...columns, details: details === null ? null : writer.numberOfDetails(details) }
  })
}

const COLUMNS = new Map(
  SHARED_TABLES.map((table) => {
    const columns = Object.entries(SHARED_COLUMNS[table].columns)
    return [table, columns.map(([name, { type }]) => ({ name, type }))]
  }),
)

function toSharedRow({ vault, writer }: Source, table: SharedTable, row: SqlRow): SharedRow {
  const shared: Record<string, SharedValue> = {}
  const files = 'pack_tree' in row ? describeFiles(row) : undefined
  for (const { name, type } of COLUMNS.get(table) ?? []) {
    const value = (files?.[name] ?? row[name] ?? null) as SharedValue
    if (type === 'call') shared[name] = writer.numberOfCall(Number(value ?? row['seq']))
    else if (value === null) shared[name] = null
    else if (type === 'state') shared[name] = writer.numberOfState(Number(value))
    else if (type === 'details') shared[name] = writer.numberOfDetails(String(value))
    else shared[name] = value
  }
  for (const { column, name } of sealedColumnsOf(table))
    if (shared[name] !== null) shared[name] = openColumn(vault, column, row)
  if (files?.['pack'] === null) shared['pack'] = null
  return shared
}

const NO_PACK: SqlRow = { pack: null }

/** The columns of the files that the row itself does not have. */
function describeFiles(row: SqlRow): SqlRow | undefined {
  if (row['pack_tree'] === null) return undefined
  const isElsewhere = row['tree'] === null && row['is_local'] === 0
  // A pack counts only for the tree that it completes: `forget` gives a checkpoint another tree.
  if (!isElsewhere) return row['tree'] === row['pack_tree'] ? undefined : NO_PACK
  const figures = JSON.parse(text(row, 'figures')) as SqlRow
  return { ...figures, tree: row['pack_tree'], details: row['pack_details'] }
}

/** The key columns of a removed row. None if the remote never had the row. */
function removedKey({ writer }: Source, table: SharedTable, key: string): readonly SharedRow[] {
  if (table === 'checkpoints' || table === 'saves') return [{ id: key }]
  if (table === 'tool_calls') {
    const number = writer.knownCall(Number(key))
    return number === undefined ? [] : [{ number }]
  }
  const parts = JSON.parse(key) as readonly SharedValue[]
  const columns = SHARED_COLUMNS[table].key
  const row = Object.fromEntries(columns.map((column, index) => [column, parts[index] ?? null]))
  if (table !== 'partials') return [row]
  const call = writer.knownCall(Number(row['call']))
  return call === undefined ? [] : [{ ...row, call }]
}
