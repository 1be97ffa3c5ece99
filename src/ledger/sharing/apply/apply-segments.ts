// Takes segments from elsewhere over into this ledger. They are as untrusted as an import, so everything is checked before the first row
// is written, and one transaction writes all of it or nothing.
import {
  checkNumbers,
  foldRows,
  invariant,
  type LogName,
  type LogNumber,
  numbersFromBefore,
  type NumberTable,
  parseSegment,
  parseSessionId,
  parseStorableText,
  type ProjectId,
  SavestateError,
  segmentFault,
  type SegmentContent,
} from '../../../model/index.js'
import { type Database, isConstraintFault } from '../../../system/index.js'
import type { Vault } from '../../encryption/index.js'
import { applyCalls } from './calls.js'
import { type SegmentToApply, selectSegments } from './select-segments.js'
import {
  applyCheckpoints,
  applySession,
  checkSession,
  createSession,
  removeCheckpoints,
} from './session-rows.js'
import { writeContents } from './state-rows.js'
import { LocalChanges, type Target } from './target.js'
import { applySaves } from './save-rows.js'
import { applyThread } from './thread-rows.js'
import {
  ensureProjectLog,
  findLog,
  findOwner,
  forgetNumbers,
  insertLog,
  type LogRow,
  requireLog,
  withoutNotes,
} from '../logs.js'
import { isSave } from '../members.js'
import { insertNumbers, type Local, type Numbered, readNumbers } from '../numbers.js'

export type ApplyRequest = {
  /** In order, without gaps. Those that are here already are skipped. */
  readonly segments: readonly SegmentToApply[]
  /** The id of the remote. */
  readonly remote: string
  /** The epoch of the remote's head. */
  readonly epoch: number
  /** The project of this store that a new session belongs to. */
  readonly project: ProjectId | null
}

/**
 * `applied`: the log is where the segments end. Otherwise nothing was written:
 * - `incomplete`: a segment builds on rows that a collection removed here. Apply all segments of the log, from its first one.
 * - `diverged`: the session has continued here too, or exists here without being shared. `splitTail` moves what is here out of the way.
 */
export type ApplyResult = 'applied' | 'incomplete' | 'diverged'

/** Thrown and caught here, to roll back. */
class NotApplied extends Error {
  readonly result: Exclude<ApplyResult, 'applied'>

  constructor(result: Exclude<ApplyResult, 'applied'>) {
    super(result)
    this.result = result
  }
}

type Store = {
  readonly database: Database
  readonly vault: Vault
  readonly transact: <T>(work: () => T) => T
}

export function applySegments(store: Store, log: LogName, request: ApplyRequest): ApplyResult {
  if (log.kind === 'session') parseSessionId(log.id)
  else parseStorableText(log.id, `The id of a ${log.kind}`)
  for (const { content } of request.segments) parseSegment(content, log.kind)
  let hadChanges = false
  try {
    store.transact(() => {
      const known = findLog(store.database, log)
      hadChanges = known?.isDirty === true
      apply(store, { log, known, request })
    })
    return 'applied'
  } catch (error) {
    if (error instanceof NotApplied) return error.result
    if (!isConstraintFault(error)) throw error
    // Two rows with one step, operation or id of a call: one from here and one from there, or both from there.
    if (hadChanges) return 'diverged'
    throw segmentFault('two of its rows exclude each other', error)
  }
}

type Work = {
  readonly log: LogName
  readonly known: LogRow | undefined
  readonly request: ApplyRequest
}

function apply(store: Store, { log, known, request }: Work): void {
  const { database, vault } = store
  if (known !== undefined) refuseUnready(known, request)
  const segments = selectSegments(request.segments, known?.position)
  const contents = segments.map(({ content }) => content)
  const last = segments.at(-1)
  if (last === undefined) return
  const row = known ?? create(store, { log, contents, request })
  const lastBase = contents.findLastIndex(({ isBase }) => isBase)
  if (row.needsBase) {
    // All of it is unsent. The checkpoints of a thread or project have ids of their own, so both sides stay.
    if (known !== undefined && log.kind === 'session') throw new NotApplied('diverged')
    if (lastBase === -1) throw new NotApplied('incomplete')
    if (log.kind === 'thread') noteThread(database, row)
    if (log.kind === 'project') noteSaves(database, row)
  }
  if (lastBase !== -1) forgetNumbers(database, row.key)
  const used = contents.slice(Math.max(lastBase, 0))
  const { things, locals } = readKnown(database, row, used)
  for (const content of used) checkNumbers(content, things)
  withoutNotes(database, row.key, () => {
    const key = vault.keyForWriting()
    const written = writeContents(database, used, { key, things, known: locals })
    for (const { number, local } of written) locals.set(number, local)
    const changes = new LocalChanges(database, row.key)
    const folded = foldRows(used)
    const target: Target = { ...store, log: row, folded, locals, changes, project: request.project }
    insertNumbers(database, row.key, [...written, ...applyRows(target)])
    advance(target, { last, epoch: request.epoch, contents: used })
  })
}

function applyRows(target: Target): readonly Numbered[] {
  const { kind } = target.log.log
  if (kind !== 'session') {
    if (kind === 'thread') applyThread(target)
    else applySaves(target)
    return []
  }
  removeCheckpoints(target)
  const added = applyCheckpoints(target)
  const calls = applyCalls(target)
  const isContinued = added > 0 || calls.added > 0
  if (isContinued && hasContinuedHere(target)) throw new NotApplied('diverged')
  // Last: a removal moves the head.
  applySession(target)
  checkSession(target)
  return calls.numbers
}

/** Whether more was changed here than the names, pins and removals of checkpoints that the remote has. */
function hasContinuedHere({ database, log, changes }: Target): boolean {
  if (changes.isEmpty) return false
  if (['session', 'tool_calls', 'partials'].some((table) => changes.count(table) > 0)) return true
  const sql = `SELECT 1 FROM shared_changes AS changes JOIN checkpoints ON checkpoints.id = row
    WHERE log = ? AND changes.kind = 'checkpoints' AND session = ? AND step >= ? LIMIT 1`
  return database.get(sql, log.key, log.owner, log.nextStep) !== undefined
}

function noteThread(database: Database, { key, owner }: LogRow): void {
  database.run(
    `INSERT OR IGNORE INTO shared_changes (log, kind, row)
     SELECT ?1, 'graph_checkpoints', json_array(ns, id) FROM graph_checkpoints WHERE thread = ?2
     UNION ALL SELECT ?1, 'graph_writes', json_array(ns, checkpoint, task, idx) FROM graph_writes WHERE thread = ?2
     UNION ALL SELECT ?1, 'thread', '' FROM threads WHERE key = ?2 AND deleted_to IS NOT NULL`,
    key,
    owner,
  )
}

function noteSaves(database: Database, { key, owner }: LogRow): void {
  database.run(
    `INSERT OR IGNORE INTO shared_changes (log, kind, row)
     SELECT ?2, 'saves', it.id FROM checkpoints AS it WHERE ${isSave('it')}`,
    owner,
    key,
  )
}

function advance(
  { database, log, folded }: Target,
  {
    last,
    epoch,
    contents,
  }: {
    readonly last: SegmentToApply
    readonly epoch: number
    readonly contents: readonly SegmentContent[]
  },
): void {
  const [session] = folded.rows.session.values()
  const nextNumber = contents.reduce(
    (next, content) => Math.max(next, content.nextNumber),
    log.nextNumber,
  )
  database.run(
    `UPDATE shared_logs SET next_n = ?, epoch = ?, hash = ?, next_number = ?, needs_base = 0,
       next_step = coalesce(?, next_step) WHERE key = ?`,
    last.n + 1,
    epoch,
    last.hash,
    nextNumber,
    session?.['next_step'] ?? null,
    log.key,
  )
}

function refuseUnready(log: LogRow, request: ApplyRequest): void {
  invariant(log.remote === request.remote, 'a log is on one remote')
  invariant(!log.isPending, 'a pending segment is confirmed or retracted before others are applied')
  if (!log.isDeleted) return
  const name = JSON.stringify(log.log.id)
  throw new SavestateError(
    'SESSION_DELETED',
    `The ${log.log.kind} ${name} was deleted on this machine`,
  )
}

/** Creates the rows of a log that is not shared here yet. */
function create(
  { database }: Store,
  {
    log,
    contents,
    request,
  }: {
    readonly log: LogName
    readonly contents: readonly SegmentContent[]
    readonly request: ApplyRequest
  },
): LogRow {
  if (contents[0]?.isBase !== true) throw new NotApplied('incomplete')
  if (isInUse(database, log)) throw new NotApplied('diverged')
  if (log.kind === 'session') {
    const [row] = foldRows(contents).rows.session.values()
    if (row === undefined) throw segmentFault('its session has no row')
    createSession({ database }, { id: log.id, row, project: request.project })
  } else if (log.kind === 'project') ensureProjectLog(database, log.id, request.project)
  else database.run('INSERT INTO threads (id) VALUES (?) ON CONFLICT (id) DO NOTHING', log.id)
  const owner = findOwner(database, log)
  invariant(owner !== undefined, 'a created session has a row')
  insertLog(database, { kind: log.kind, owner, remote: request.remote })
  return requireLog(database, log)
}

function isInUse(database: Database, { kind, id }: LogName): boolean {
  const sql = 'SELECT 1 FROM sessions WHERE id = ? AND deleted_at IS NULL'
  return kind === 'session' && database.get(sql, id) !== undefined
}

/** The numbers from before that the segments use, and their rows. */
function readKnown(
  database: Database,
  { key }: LogRow,
  contents: readonly SegmentContent[],
): { readonly things: NumberTable; readonly locals: Map<LogNumber, Local> } {
  // A base replaces all numbers. `checkNumbers` refuses one that it does not bring.
  if (contents[0]?.isBase === true) return { things: new Map(), locals: new Map() }
  const brought = new Set<LogNumber>()
  const needed = new Set<LogNumber>()
  const asked = new Set<LogNumber>()
  for (const content of contents) {
    for (const number of numbersFromBefore(content)) if (!brought.has(number)) needed.add(number)
    for (const list of [content.elements, content.nodes, content.states])
      for (const [number] of list) brought.add(number)
    // New calls have no row yet.
    const calls = [...(content.rows.tool_calls ?? []), ...(content.removed.tool_calls ?? [])]
    for (const row of calls) asked.add(Number(row['number']))
    for (const row of content.removed.partials ?? []) asked.add(Number(row['call']))
    for (const row of content.rows.tool_calls ?? []) brought.add(Number(row['number']))
  }
  const known = readNumbers(database, key, new Set([...needed, ...asked]))
  for (const number of needed) if (!known.has(number)) throw new NotApplied('incomplete')
  const things: NumberTable = new Map()
  const locals = new Map<LogNumber, Local>()
  for (const [number, { local, ...thing }] of known) {
    things.set(number, thing)
    locals.set(number, local)
  }
  return { things, locals }
}
