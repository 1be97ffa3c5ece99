// The rows of graph threads: checkpoints and writes that a framework creates and names itself. Several processes may write to one
// thread, each to a branch of its own. None of them may recreate a deleted thread by continuing it.
import { invariant, parseStorableText, SavestateError, type StateId } from '../../model/index.js'
import type { SqlValue } from '../../system/index.js'
import { sealColumn } from '../encryption/index.js'
import { insertRow, number, optional } from '../rows.js'
import {
  type GraphCheckpoint,
  toGraphCheckpoint,
  type GraphPlace,
  toGraphPlace,
  type GraphWrite,
  toGraphWrite,
  type StoredGraphCheckpoint,
  serialText,
  type ThreadKey,
} from './thread-rows.js'
import { SealedTable } from '../ledger-table.js'

export type GraphQuery = {
  readonly thread?: string | undefined
  readonly ns?: string | undefined
  readonly id?: string | undefined
  /** Only smaller ids. */
  readonly before?: string | undefined
  readonly limit?: number | undefined
}

type ThreadRow = {
  readonly key: ThreadKey
  readonly isDeleted: boolean
  readonly deletedTo: string | null
}

const CHECKPOINTS = `SELECT graph_checkpoints.*, threads.id AS thread_id
  FROM graph_checkpoints JOIN threads ON threads.key = graph_checkpoints.thread`

export class Threads extends SealedTable {
  /** Deleted threads have none. */
  ids(): string[] {
    const rows = this.database.all('SELECT id FROM threads WHERE deleted_at IS NULL ORDER BY key')
    return rows.map(({ id }) => String(id))
  }

  /** Also if it was deleted. */
  isKnown(thread: string): boolean {
    return this.#find(thread) !== undefined
  }

  get({ thread, ns, id }: GraphPlace): StoredGraphCheckpoint | undefined {
    const sql = `${CHECKPOINTS} WHERE threads.id = ? AND ns = ? AND graph_checkpoints.id = ?`
    const row = this.database.get(sql, thread, ns, id)
    return row === undefined ? undefined : toGraphCheckpoint(row, this.vault)
  }

  /** The one with the greatest id. */
  latest(thread: string, ns: string): StoredGraphCheckpoint | undefined {
    const sql = `${CHECKPOINTS} WHERE threads.id = ? AND ns = ? ORDER BY graph_checkpoints.id DESC LIMIT 1`
    const row = this.database.get(sql, thread, ns)
    return row === undefined ? undefined : toGraphCheckpoint(row, this.vault)
  }

  /** Greatest id first, across all matching threads. */
  places({ thread, ns, id, before, limit }: GraphQuery): GraphPlace[] {
    const conditions: readonly (readonly [string, string | undefined])[] = [
      ['threads.id = ?', thread],
      ['ns = ?', ns],
      ['graph_checkpoints.id = ?', id],
      ['graph_checkpoints.id < ?', before],
    ]
    const used = conditions.flatMap(([sql, name]) => (name === undefined ? [] : [{ sql, name }]))
    const where = used.length === 0 ? '' : `WHERE ${used.map(({ sql }) => sql).join(' AND ')}`
    return this.database
      .all(
        `SELECT threads.id AS thread_id, ns, graph_checkpoints.id AS id
         FROM graph_checkpoints JOIN threads ON threads.key = graph_checkpoints.thread ${where}
         ORDER BY graph_checkpoints.id DESC, thread, ns LIMIT ?`,
        ...used.map(({ name }) => name),
        limit ?? -1,
      )
      .map(toGraphPlace)
  }

  /** The checkpoints of one thread, in no order. */
  all(thread: string): StoredGraphCheckpoint[] {
    return this.database
      .all(`${CHECKPOINTS} WHERE threads.id = ?`, thread)
      .map((row) => toGraphCheckpoint(row, this.vault))
  }

  /** Sorted by task, then by index. */
  writes({ thread, ns, id }: GraphPlace): GraphWrite[] {
    return this.database
      .all(
        `SELECT graph_writes.* FROM graph_writes JOIN threads ON threads.key = thread
         WHERE threads.id = ? AND ns = ? AND checkpoint = ? ORDER BY task, idx`,
        thread,
        ns,
        id,
      )
      .map((row) => toGraphWrite(row, this.vault))
  }

  threadsOfRuns(runs: readonly string[]): string[] {
    const sql = `${CHECKPOINTS} WHERE run = ?`
    const found = runs.flatMap((run) => this.database.all(sql, run))
    return [...new Set(found.map((row) => toGraphPlace(row).thread))]
  }

  /** Inside a transaction. Replaces a checkpoint of the same id. Throws SESSION_DELETED. */
  put(checkpoint: GraphCheckpoint, state: StateId): void {
    const { ns, id, parent, facts, run, files, sends } = checkpoint
    const deltas = checkpoint.deltas.length === 0 ? null : JSON.stringify(checkpoint.deltas)
    refuseUnstorable([ns, id, parent, run, sends])
    const thread = this.#keyToPut(checkpoint)
    const metadata = serialText(checkpoint.metadata)
    const row = { thread, ns, id, parent, state, facts, metadata, run, files, deltas, sends }
    const sealed = {
      ...row,
      facts: sealColumn(this.vault, 'graph_checkpoints.facts', row),
      metadata: sealColumn(this.vault, 'graph_checkpoints.metadata', row),
    }
    const changed = ['parent', 'state', 'facts', 'metadata', 'run', 'files', 'deltas', 'sends']
    insertRow(this.database, 'graph_checkpoints', sealed, {
      onConflict: `(thread, ns, id) DO UPDATE SET ${setExcluded(changed)}`,
    })
  }

  /** Inside a transaction. Keeps an earlier write with the same index, unless the index is negative. Throws SESSION_DELETED. */
  putWrites(place: GraphPlace, writes: readonly GraphWrite[]): void {
    const { ns, id: checkpoint } = place
    refuseUnstorable([ns, checkpoint])
    const thread = this.#keyToWrite(place)
    for (const { task, idx, channel, value } of writes) {
      refuseUnstorable([task, channel])
      const row = { thread, ns, checkpoint, task, idx, channel, value: serialText(value) }
      const sealed = { ...row, value: sealColumn(this.vault, 'graph_writes.value', row) }
      insertRow(this.database, 'graph_writes', sealed, {
        onConflict: `(thread, ns, checkpoint, task, idx)
          DO UPDATE SET ${setExcluded(['channel', 'value'])} WHERE excluded.idx < 0`,
      })
    }
  }

  /** Throws SESSION_DELETED if another host has deleted the thread, and with it the checkpoint or the writes that were put here. */
  refuseDeleted(place: GraphPlace): void {
    const known = this.#find(place.thread)
    if (known === undefined) return
    if (known.isDeleted || this.#isDeletedCheckpoint(known, place))
      throw threadDeletedError(place.thread)
  }

  /** Inside a transaction. Removes a checkpoint and its writes, except those to the channel `keepWritesTo`. */
  remove(
    { key, ns, id }: StoredGraphCheckpoint,
    { keepWritesTo }: { readonly keepWritesTo: string | undefined },
  ): void {
    const place: SqlValue[] = [key, ns, id]
    const sql = 'DELETE FROM graph_checkpoints WHERE thread = ? AND ns = ? AND id = ?'
    this.database.run(sql, ...place)
    this.database.run(
      `DELETE FROM graph_writes WHERE thread = ? AND ns = ? AND checkpoint = ?
       AND channel IS NOT ?`,
      ...place,
      keepWritesTo ?? null,
    )
  }

  /** Inside a transaction. Returns the number of removed checkpoints. */
  delete(thread: string, atMs: number): number {
    const known = this.#find(thread)
    if (known === undefined || known.isDeleted) return 0
    const { key } = known
    this.database.run(
      `UPDATE threads SET deleted_at = ?, deleted_to = coalesce(
         max(deleted_to, (SELECT max(id) FROM graph_checkpoints WHERE thread = key)),
         (SELECT max(id) FROM graph_checkpoints WHERE thread = key), deleted_to) WHERE key = ?`,
      atMs,
      key,
    )
    this.database.run('DELETE FROM graph_writes WHERE thread = ?', key)
    return this.database.run('DELETE FROM graph_checkpoints WHERE thread = ?', key).changes
  }

  /** Inside a transaction. The copies have the ids of the originals and share their values. */
  copy(from: string, to: string): void {
    refuseUnstorable([to])
    const source = this.#find(from)
    if (source === undefined || source.isDeleted || from === to) return
    const target = this.#create(to)
    const checkpoint = 'ns, id, parent, state, facts, metadata, run, files, deltas, sends'
    const write = 'ns, checkpoint, task, idx, channel, value'
    this.database.run(
      `INSERT OR REPLACE INTO graph_checkpoints (thread, ${checkpoint})
       SELECT ?, ${checkpoint} FROM graph_checkpoints WHERE thread = ? ORDER BY seq`,
      target,
      source.key,
    )
    this.database.run(
      `INSERT OR REPLACE INTO graph_writes (thread, ${write})
       SELECT ?, ${write} FROM graph_writes WHERE thread = ? ORDER BY seq`,
      target,
      source.key,
    )
  }

  /** Only a checkpoint of the outermost graph without a parent may create a deleted thread again. */
  #keyToPut({ thread, ns, parent }: GraphCheckpoint): ThreadKey {
    const known = this.#find(thread)
    if (known === undefined) return this.#create(thread)
    if (known.isDeleted && (parent !== null || ns !== '')) throw threadDeletedError(thread)
    if (known.isDeleted) return this.#create(thread)
    if (parent !== null && this.#isDeletedCheckpoint(known, { thread, ns, id: parent }))
      throw threadDeletedError(thread)
    return known.key
  }

  #keyToWrite(place: GraphPlace): ThreadKey {
    const known = this.#find(place.thread)
    if (known === undefined) return this.#create(place.thread)
    if (known.isDeleted || this.#isDeletedCheckpoint(known, place))
      throw threadDeletedError(place.thread)
    return known.key
  }

  /** Whether it was deleted before the thread was created again. */
  #isDeletedCheckpoint({ deletedTo }: ThreadRow, place: GraphPlace): boolean {
    return deletedTo !== null && place.id <= deletedTo && !this.#has(place)
  }

  #has({ thread, ns, id }: GraphPlace): boolean {
    const sql = `SELECT 1 FROM graph_checkpoints JOIN threads ON threads.key = thread
      WHERE threads.id = ? AND ns = ? AND graph_checkpoints.id = ?`
    return this.database.get(sql, thread, ns, id) !== undefined
  }

  #find(thread: string): ThreadRow | undefined {
    refuseUnstorable([thread])
    const row = this.database.get('SELECT * FROM threads WHERE id = ?', thread)
    if (row === undefined) return undefined
    const isDeleted = row['deleted_at'] !== null
    return { key: number(row, 'key'), isDeleted, deletedTo: optional(row, 'deleted_to') }
  }

  #create(thread: string): ThreadKey {
    const sql =
      'INSERT INTO threads (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET deleted_at = NULL'
    this.database.run(sql, thread)
    const created = this.#find(thread)
    invariant(created !== undefined, 'a created thread exists')
    return created.key
  }
}

/** Other names would be cut at NUL, or confused with each other. */
function refuseUnstorable(names: readonly (string | null)[]): void {
  for (const name of names)
    if (name !== null) parseStorableText(name, `The name ${JSON.stringify(name)}`)
}

function setExcluded(columns: readonly string[]): string {
  return columns.map((column) => `${column} = excluded.${column}`).join()
}

function threadDeletedError(thread: string): SavestateError {
  return new SavestateError('SESSION_DELETED', `The thread ${JSON.stringify(thread)} was deleted`, {
    hint: 'A write that continues it is rejected. A run from scratch creates it again.',
  })
}
