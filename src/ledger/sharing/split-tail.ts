// Divergence: a session continued here and, under another lease, on its remote. The steps that only this host has become a fork, and the
// session itself waits for the segments of its remote (docs/internals/shared.md#divergence).
import {
  type CheckpointId,
  type LogName,
  parseSessionId,
  SavestateError,
} from '../../model/index.js'
import type { Database, SqlRow, SqlValue } from '../../system/index.js'
import { Imports } from '../records/imports.js'
import { insertRow, number, text } from '../rows.js'
import { openColumn, sealColumn, type Vault } from '../encryption/index.js'
import { ToolJournal } from '../sessions/tool-journal.js'
import { nextId } from '../states/rows.js'
import type { SegmentToApply } from './apply/select-segments.js'
import { findLog, findOwner, insertLog, requireLog } from './logs.js'
import { forgetSent, retractPending } from './outbox.js'

export type SplitRequest = {
  /** The id of the remote. */
  readonly remote: string
  /** The ids of the fork and of its first checkpoint. Both must be new. */
  readonly forkId: string
  readonly checkpointId: CheckpointId
  readonly atMs: number
  /** The segments that were read so far. Their checkpoints are no part of the fork. */
  readonly segments?: readonly SegmentToApply[]
}

export type SplitResult = {
  /** The id of the fork; null if nothing was only here. Names, pins and removals of shared checkpoints are lost in either case. */
  readonly fork: string | null
  /** How many checkpoints and tool calls were moved to it. */
  readonly checkpoints: number
  readonly calls: number
}

type Store = { readonly database: Database; readonly vault: Vault }

type Split = Store & {
  readonly request: SplitRequest
  readonly log: LogName
  readonly session: SqlRow
  /** The key in `shared_logs`; null if the session is not shared yet. */
  readonly logKey: number | null
  /** Steps from this one on are only here. */
  readonly firstStep: number
  /** The last step that the remote has. */
  readonly base: SqlRow | undefined
}

/** Inside a transaction. Afterwards, apply all segments of the log. Throws SESSION_UNKNOWN, and BAD_INPUT if the fork exists. */
export function splitTail(store: Store, log: LogName, request: SplitRequest): SplitResult {
  const { database } = store
  parseSessionId(request.forkId)
  const owner = log.kind === 'session' ? findOwner(database, log) : undefined
  const session = database.get(
    'SELECT * FROM sessions WHERE key = ? AND deleted_at IS NULL',
    owner ?? null,
  )
  if (session === undefined || owner === undefined)
    throw new SavestateError('SESSION_UNKNOWN', `There is no session ${JSON.stringify(log.id)}`)
  const known = findLog(database, log)
  if (known !== undefined) retractPending(database, known.key)
  const firstStep = findFirstStep(database, owner, { known: known?.nextStep ?? 0, request })
  const base = database.get(
    'SELECT * FROM checkpoints WHERE session = ? AND step < ? ORDER BY step DESC LIMIT 1',
    owner,
    firstStep,
  )
  const logKey = known?.key ?? null
  const split: Split = { ...store, request, log, session, logKey, firstStep, base }
  const moved = hasTail(split) ? moveTail(split) : { fork: null, checkpoints: 0, calls: 0 }
  resetSession(split)
  return moved
}

function findFirstStep(
  database: Database,
  owner: number,
  { known, request }: { readonly known: number; readonly request: SplitRequest },
): number {
  const theirs = (request.segments ?? []).flatMap(({ content }) =>
    (content.rows.checkpoints ?? []).map(({ id }) => id),
  )
  const row = database.get(
    `SELECT coalesce(max(step), -1) + 1 AS next FROM checkpoints
     WHERE session = ? AND id IN (SELECT value FROM json_each(?))`,
    owner,
    JSON.stringify(theirs),
  )
  return Math.max(known, number(row ?? {}, 'next'))
}

/** A call without a number was never sent. */
const UNSENT = `session = ?1 AND NOT EXISTS
  (SELECT 1 FROM shared_numbers INDEXED BY shared_numbers_by_row WHERE log = ?2 AND kind = 4 AND local = tool_calls.seq) AND step > ?3`
/** A call that the remote has, and that ended here, as far as the steps of the tail know it. */
const ENDED = `session = ?1 AND status <> 'started' AND step > ?3 AND (reverted = 0 OR reverted >= ?4)
  AND EXISTS (SELECT 1 FROM shared_numbers INDEXED BY shared_numbers_by_row WHERE log = ?2 AND kind = 4 AND local = tool_calls.seq)`

function hasTail({ database, session, logKey, firstStep, base }: Split): boolean {
  const row = database.get(
    `SELECT EXISTS (SELECT 1 FROM checkpoints WHERE session = ?1 AND step >= ?4) AS steps,
       EXISTS (SELECT 1 FROM tool_calls WHERE ${UNSENT}) AS calls,
       EXISTS (SELECT 1 FROM tool_calls JOIN shared_changes ON log = ?2 AND kind = 'tool_calls' AND row = seq
         WHERE session = ?1 AND status <> 'started') AS ends`,
    number(session, 'key'),
    logKey,
    stepOf(base),
    firstStep,
  )
  return row?.['steps'] === 1 || row?.['calls'] === 1 || row?.['ends'] === 1
}

function stepOf(base: SqlRow | undefined): number {
  return base === undefined ? -1 : number(base, 'step')
}

function moveTail(split: Split): SplitResult {
  const { database, session, logKey, firstStep, base, request } = split
  const from = number(session, 'key')
  // The first step of the fork is a copy of the last shared one.
  const shift = base === undefined ? -firstStep : 1 - firstStep
  const first = base === undefined ? 0 : 1
  const fork = createFork(split, number(session, 'next_step') + shift)
  if (base !== undefined) copyBase(split, { base, fork, shift })
  const checkpoints = database.run(
    `UPDATE checkpoints SET session = ?1, step = step + ?2, parent = CASE WHEN parent IN
       (SELECT id FROM checkpoints WHERE session = ?3 AND step < ?4) THEN ?5 ELSE parent END
     WHERE session = ?3 AND step >= ?4`,
    fork,
    shift,
    from,
    firstStep,
    base === undefined ? null : request.checkpointId,
  ).changes
  database.run(
    `INSERT INTO tool_calls (session, id, name, args, idempotency_key, status, outcome, started_at, ended_at, step, reverted)
     SELECT ?5, id, name, args, idempotency_key, status, outcome, started_at, ended_at, max(?6, step + ?7),
       CASE reverted WHEN 0 THEN 0 ELSE max(?6, reverted + ?7) END
     FROM tool_calls WHERE ${ENDED} ORDER BY seq`,
    from,
    logKey,
    stepOf(base),
    firstStep,
    fork,
    first,
    shift,
  )
  const calls = moveCalls(split, { fork, first, shift })
  setHead(database, fork)
  // The fork is shared like the session: otherwise it would end with this host.
  insertLog(database, { kind: 'session', owner: fork, remote: request.remote })
  return { fork: request.forkId, checkpoints, calls }
}

/** As new rows, so that they come after the calls that were copied. Returns how many there are. */
function moveCalls(
  { database, vault, session, logKey, base }: Split,
  { fork, first, shift }: { readonly fork: number; readonly first: number; readonly shift: number },
): number {
  const sql = `SELECT * FROM tool_calls WHERE ${UNSENT} ORDER BY seq`
  const calls = database.all(sql, number(session, 'key'), logKey, stepOf(base))
  for (const row of calls) {
    const [old, seq] = [number(row, 'seq'), nextId(database, 'tool_calls')]
    const [step, reverted] = [number(row, 'step'), number(row, 'reverted')]
    insertRow(database, 'tool_calls', {
      ...(row as Record<string, SqlValue>),
      seq,
      session: fork,
      step: Math.max(first, step + shift),
      reverted: reverted === 0 ? 0 : Math.max(first, reverted + shift),
    })
    for (const partial of database.all('SELECT * FROM partials WHERE call = ?', old)) {
      const value = openColumn(vault, 'partials.value', partial)
      const moved = { call: seq, number: number(partial, 'number'), value }
      const sealed = sealColumn(vault, 'partials.value', moved)
      insertRow(database, 'partials', { ...moved, value: sealed })
    }
    database.run('DELETE FROM partials WHERE call = ?', old)
    database.run('DELETE FROM tool_calls WHERE seq = ?', old)
  }
  return calls.length
}

/** Like the session, under another id. Returns its key. */
function createFork({ database, vault, session, request, base }: Split, nextStep: number): number {
  const { forkId: id, atMs } = request
  const metadata =
    session['metadata'] === null
      ? null
      : sealColumn(vault, 'sessions.metadata', {
          id,
          metadata: openColumn(vault, 'sessions.metadata', session),
        })
  if (findOwner(database, { kind: 'session', id }) !== undefined)
    throw new SavestateError('BAD_INPUT', `A session ${JSON.stringify(id)} exists already`)
  const { agent, project, status, status_reason, turn } = session as Record<string, SqlValue>
  insertRow(database, 'sessions', {
    id,
    agent: agent ?? null,
    project: project ?? null,
    status: status ?? null,
    status_reason: status_reason ?? null,
    created_at: atMs,
    updated_at: atMs,
    next_step: nextStep,
    turn: turn ?? null,
    metadata,
    forked_from: base === undefined ? null : text(base, 'id'),
  })
  return number(database.get('SELECT key FROM sessions WHERE id = ?', id) ?? {}, 'key')
}

/** The first step of the fork: the last shared state, and the calls that are known there. */
function copyBase(
  { database, vault, session, log, request, firstStep }: Split,
  { base, fork, shift }: { readonly base: SqlRow; readonly fork: number; readonly shift: number },
): void {
  const { checkpointId: id, atMs } = request
  const { project, status, status_reason, turn, state, schema_version } = base as Record<
    string,
    SqlValue
  >
  insertRow(database, 'checkpoints', {
    id,
    project: project ?? null,
    kind: 'save',
    reason: `fork of ${log.id}`,
    created_at: atMs,
    session: fork,
    parent: text(base, 'id'),
    step: 0,
    status: status ?? null,
    status_reason: status_reason ?? null,
    turn: turn ?? null,
    state: state ?? null,
    schema_version: schema_version ?? null,
    metadata:
      base['metadata'] === null
        ? null
        : sealColumn(vault, 'checkpoints.metadata', {
            id,
            metadata: openColumn(vault, 'checkpoints.metadata', base),
          }),
  })
  // Before the steps that follow it.
  new Imports(database).place(id, { atMs: number(base, 'created_at'), after: null })
  const from = { session: number(session, 'key'), step: number(base, 'step') }
  new ToolJournal(database, { vault }).copyTo(fork, from)
  // A rewind of the tail reverted some of them.
  database.run(
    `UPDATE tool_calls AS copy SET reverted = known.reverted + ?1 FROM tool_calls AS known
     WHERE copy.session = ?2 AND known.session = ?3 AND known.id = copy.id AND known.started_at = copy.started_at
       AND known.step <= ?4 AND known.reverted >= ?5`,
    shift,
    fork,
    from.session,
    from.step,
    firstStep,
  )
}

/** The last step is the head: a session continues from the checkpoint that it saved last. */
function setHead(database: Database, session: number): void {
  database.run(
    `UPDATE sessions SET head = (SELECT id FROM checkpoints WHERE session = key ORDER BY step DESC LIMIT 1) WHERE key = ?`,
    session,
  )
}

/** The session is where its remote was last. Processes that have it open can write no more. */
function resetSession({ database, session, log, logKey, firstStep, request }: Split): void {
  const owner = number(session, 'key')
  database.run(
    `UPDATE sessions SET next_step = ?, fence = fence + 1, lease_owner = NULL, lease_expires_at = NULL WHERE key = ?`,
    firstStep,
    owner,
  )
  setHead(database, owner)
  if (logKey === null) insertLog(database, { kind: 'session', owner, remote: request.remote })
  const { key } = requireLog(database, log)
  forgetSent(database, key)
  database.run(
    `UPDATE shared_logs SET next_n = 1, epoch = 0, hash = NULL, needs_base = 0, next_step = ? WHERE key = ?`,
    firstStep,
    key,
  )
}
