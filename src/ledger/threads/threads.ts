// The rows of graph threads: checkpoints and writes that a framework makes and names itself. Several processes may
// write one thread, each an own branch of it; what they must not do is bring back one that was deleted.
import { invariant, SavestateError, type StateId } from '../../model/index.js'
import type { Database, SqlValue } from '../../system/index.js'
import { graphContext, type Vault, writeContext } from '../encryption/index.js'
import {
  type GraphCheckpoint,
  toGraphCheckpoint,
  type GraphPlace,
  toGraphPlace,
  type GraphWrite,
  toGraphWrite,
  type StoredGraphCheckpoint,
  encodeName,
  sealSerial,
  type ThreadKey,
  toThreadRow,
  type ThreadRow,
} from './thread-rows.js'

export type GraphQuery = {
  readonly thread?: string | undefined
  readonly ns?: string | undefined
  readonly id?: string | undefined
  /** Only ids below this one. */
  readonly before?: string | undefined
  readonly limit?: number | undefined
}

const CHECKPOINTS = `SELECT graph_checkpoints.*, threads.id AS thread_id
  FROM graph_checkpoints JOIN threads ON threads.key = graph_checkpoints.thread`

export class Threads {
  readonly #database: Database
  readonly #vault: Vault

  constructor(database: Database, vault: Vault) {
    this.#database = database
    this.#vault = vault
  }

  get({ thread, ns, id }: GraphPlace): StoredGraphCheckpoint | undefined {
    const row = this.#database.get(
      `${CHECKPOINTS} WHERE threads.id = ? AND ns = ? AND graph_checkpoints.id = ?`,
      encodeName(thread),
      encodeName(ns),
      encodeName(id),
    )
    return row === undefined ? undefined : toGraphCheckpoint(row, this.#vault)
  }

  /** That with the greatest id. */
  latest(thread: string, ns: string): StoredGraphCheckpoint | undefined {
    const row = this.#database.get(
      `${CHECKPOINTS} WHERE threads.id = ? AND ns = ? ORDER BY graph_checkpoints.id DESC LIMIT 1`,
      encodeName(thread),
      encodeName(ns),
    )
    return row === undefined ? undefined : toGraphCheckpoint(row, this.#vault)
  }

  /** Greatest id first, across all threads that are asked for. */
  places({ thread, ns, id, before, limit }: GraphQuery): GraphPlace[] {
    const conditions: readonly (readonly [string, string | undefined])[] = [
      ['threads.id = ?', thread],
      ['ns = ?', ns],
      ['graph_checkpoints.id = ?', id],
      ['graph_checkpoints.id < ?', before],
    ]
    const used = conditions.flatMap(([sql, name]) => (name === undefined ? [] : [{ sql, name }]))
    const where = used.length === 0 ? '' : `WHERE ${used.map(({ sql }) => sql).join(' AND ')}`
    return this.#database
      .all(
        `SELECT threads.id AS thread_id, ns, graph_checkpoints.id AS id
         FROM graph_checkpoints JOIN threads ON threads.key = graph_checkpoints.thread ${where}
         ORDER BY graph_checkpoints.id DESC, thread, ns LIMIT ?`,
        ...used.map(({ name }) => encodeName(name)),
        limit ?? -1,
      )
      .map(toGraphPlace)
  }

  /** Those of one thread, in no order. */
  all(thread: string): StoredGraphCheckpoint[] {
    return this.#database
      .all(`${CHECKPOINTS} WHERE threads.id = ?`, encodeName(thread))
      .map((row) => toGraphCheckpoint(row, this.#vault))
  }

  /** By task, then by index. */
  writes({ thread, ns, id }: GraphPlace): GraphWrite[] {
    return this.#database
      .all(
        `SELECT graph_writes.* FROM graph_writes JOIN threads ON threads.key = thread
         WHERE threads.id = ? AND ns = ? AND checkpoint = ? ORDER BY task, idx`,
        encodeName(thread),
        encodeName(ns),
        encodeName(id),
      )
      .map((row) => toGraphWrite(row, this.#vault))
  }

  threadsOfRuns(runs: readonly string[]): string[] {
    const sql = `${CHECKPOINTS} WHERE run = ?`
    const found = runs.flatMap((run) => this.#database.all(sql, encodeName(run)))
    return [...new Set(found.map((row) => toGraphPlace(row).thread))]
  }

  /** Inside a transaction. A checkpoint of that id is replaced. Throws SESSION_DELETED. */
  put(checkpoint: GraphCheckpoint, state: StateId): void {
    const { ns, id, parent, run, deltas, sends } = checkpoint
    const key = this.#vault.keyForWriting()
    const place = { ns: encodeName(ns), id: encodeName(id) }
    const metadata = sealSerial(checkpoint.metadata, {
      key,
      context: graphContext('metadata', place),
    })
    this.#database.run(
      `INSERT INTO graph_checkpoints
         (thread, ns, id, parent, state, facts, metadata_type, metadata, run, files, deltas, sends)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT (thread, ns, id) DO UPDATE SET parent = excluded.parent, state = excluded.state,
         facts = excluded.facts, metadata_type = excluded.metadata_type, metadata = excluded.metadata,
         run = excluded.run, files = excluded.files, deltas = excluded.deltas, sends = excluded.sends`,
      this.#keyToPut(checkpoint),
      place.ns,
      place.id,
      optionalName(parent),
      state,
      key?.seal(checkpoint.facts, graphContext('facts', place)) ?? checkpoint.facts,
      metadata.type,
      metadata.data,
      optionalName(run),
      checkpoint.files,
      deltas.length === 0 ? null : JSON.stringify(deltas),
      optionalName(sends),
    )
  }

  /** Inside a transaction. What a task has written stays, unless its index is below zero. Throws SESSION_DELETED. */
  putWrites(place: GraphPlace, writes: readonly GraphWrite[]): void {
    const thread = this.#keyToWrite(place)
    const key = this.#vault.keyForWriting()
    const [ns, checkpoint] = [encodeName(place.ns), encodeName(place.id)]
    for (const write of writes) {
      const { idx, channel } = write
      const task = encodeName(write.task)
      const at = writeContext({ ns, checkpoint, task, idx })
      const value = sealSerial(write.value, { key, context: at })
      this.#database.run(
        `INSERT INTO graph_writes (thread, ns, checkpoint, task, idx, channel, type, value)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)
         ON CONFLICT (thread, ns, checkpoint, task, idx) DO UPDATE SET channel = excluded.channel,
           type = excluded.type, value = excluded.value WHERE excluded.idx < 0`,
        thread,
        ns,
        checkpoint,
        task,
        idx,
        encodeName(channel),
        value.type,
        value.data,
      )
    }
  }

  /** Inside a transaction. Its writes go too, but for those to one channel if that is wished. */
  remove(
    { key, ns, id }: StoredGraphCheckpoint,
    { keepWritesTo }: { readonly keepWritesTo: string | undefined },
  ): void {
    const place: SqlValue[] = [key, encodeName(ns), encodeName(id)]
    this.#database.run(
      'DELETE FROM graph_checkpoints WHERE thread = ? AND ns = ? AND id = ?',
      ...place,
    )
    this.#database.run(
      `DELETE FROM graph_writes WHERE thread = ? AND ns = ? AND checkpoint = ?
       AND channel IS NOT ?`,
      ...place,
      keepWritesTo === undefined ? null : encodeName(keepWritesTo),
    )
  }

  /** Inside a transaction. How many checkpoints there were. */
  delete(thread: string, atMs: number): number {
    const known = this.#find(thread)
    if (known === undefined || known.isDeleted) return 0
    const { key } = known
    this.#database.run(
      `UPDATE threads SET deleted_at = ?, deleted_to = coalesce(
         max(deleted_to, (SELECT max(id) FROM graph_checkpoints WHERE thread = key)),
         (SELECT max(id) FROM graph_checkpoints WHERE thread = key), deleted_to) WHERE key = ?`,
      atMs,
      key,
    )
    this.#database.run('DELETE FROM graph_writes WHERE thread = ?', key)
    return this.#database.run('DELETE FROM graph_checkpoints WHERE thread = ?', key).changes
  }

  /** Inside a transaction. The copies have the ids of the originals and share their values. */
  copy(from: string, to: string): void {
    const source = this.#find(from)
    if (source === undefined || source.isDeleted || from === to) return
    const target = this.#begin(to)
    const checkpoint =
      'ns, id, parent, state, facts, metadata_type, metadata, run, files, deltas, sends'
    const write = 'ns, checkpoint, task, idx, channel, type, value'
    this.#database.run(
      `INSERT OR REPLACE INTO graph_checkpoints (thread, ${checkpoint})
       SELECT ?, ${checkpoint} FROM graph_checkpoints WHERE thread = ? ORDER BY seq`,
      target,
      source.key,
    )
    this.#database.run(
      `INSERT OR REPLACE INTO graph_writes (thread, ${write})
       SELECT ?, ${write} FROM graph_writes WHERE thread = ? ORDER BY seq`,
      target,
      source.key,
    )
  }

  /** Only a checkpoint that continues nothing, in the outermost graph, begins a deleted thread anew. */
  #keyToPut({ thread, ns, parent }: GraphCheckpoint): ThreadKey {
    const known = this.#find(thread)
    if (known === undefined) return this.#begin(thread)
    if (known.isDeleted && (parent !== null || ns !== '')) throw wasDeleted(thread)
    if (known.isDeleted) return this.#begin(thread)
    if (parent !== null && this.#isOfThePast(known, { thread, ns, id: parent }))
      throw wasDeleted(thread)
    return known.key
  }

  #keyToWrite(place: GraphPlace): ThreadKey {
    const known = this.#find(place.thread)
    if (known === undefined) return this.#begin(place.thread)
    if (known.isDeleted || this.#isOfThePast(known, place)) throw wasDeleted(place.thread)
    return known.key
  }

  /** Deleted before the thread began anew. */
  #isOfThePast({ deletedTo }: ThreadRow, place: GraphPlace): boolean {
    return deletedTo !== null && place.id <= deletedTo && this.get(place) === undefined
  }

  #find(thread: string): ThreadRow | undefined {
    const row = this.#database.get('SELECT * FROM threads WHERE id = ?', encodeName(thread))
    return row === undefined ? undefined : toThreadRow(row)
  }

  #begin(thread: string): ThreadKey {
    this.#database.run(
      'INSERT INTO threads (id) VALUES (?) ON CONFLICT (id) DO UPDATE SET deleted_at = NULL',
      encodeName(thread),
    )
    const begun = this.#find(thread)
    invariant(begun !== undefined, 'a thread that was begun is there')
    return begun.key
  }
}

function optionalName(name: string | null): string | null {
  return name === null ? null : encodeName(name)
}

function wasDeleted(thread: string): SavestateError {
  return new SavestateError('SESSION_DELETED', `The thread ${JSON.stringify(thread)} was deleted`, {
    hint: 'A write that continues it is rejected. A run from scratch creates it again.',
  })
}
