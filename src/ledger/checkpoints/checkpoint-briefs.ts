// Reads lists of checkpoints with only the columns that a list shows. SQLite returns all rows as one JSON text, because returning
// each column of each row takes three times as long (docs/internals/performance.md#states).
import {
  type CheckpointBrief,
  type CheckpointId,
  type CheckpointKind,
  checkpointMoment,
  invariant,
  readCheckpointMoment,
  parseCheckpointId,
  parseProjectId,
  parseStatus,
  type ProjectId,
  type SessionKey,
  type SkipCounts,
} from '../../model/index.js'
import type { Database, SqlValue } from '../../system/index.js'
import { parseAuthors } from './authors.js'
import { checkpointContext, openForDisplay, type Vault } from '../encryption/index.js'

export type CheckpointQuery = {
  readonly project?: ProjectId | undefined
  readonly session?: SessionKey | undefined
  readonly limit?: number | undefined
  readonly name?: string | undefined
  /** Times of creation, both inclusive. */
  readonly sinceMs?: number | undefined
  readonly untilMs?: number | undefined
  /** Only those before this `order`. Not an id, whose checkpoint may be removed between two pages. */
  readonly before?: number | undefined
  /** Only steps of the session after this one, oldest first. */
  readonly afterStep?: number | undefined
}

/** The condition of a query, with its values. `order` is the column to sort by. */
function filterOf(query: Omit<CheckpointQuery, 'limit'>): {
  readonly filter: string
  readonly values: readonly SqlValue[]
  readonly order: 'seq' | 'step'
} {
  const { project, session, name, sinceMs, untilMs, before, afterStep } = query
  const order = session === undefined ? 'seq' : 'step'
  const conditions: string[] = []
  const values: SqlValue[] = []
  const where = (condition: string, value: SqlValue) => {
    conditions.push(condition)
    values.push(value)
  }
  if (project !== undefined) where('checkpoints.project = ?', project)
  if (session !== undefined) where('session = ?', session)
  if (name !== undefined) where('name = ?', name)
  if (sinceMs !== undefined) where('checkpoints.created_at >= ?', sinceMs)
  if (untilMs !== undefined) where('checkpoints.created_at <= ?', untilMs)
  if (before !== undefined) where(`${order} < ?`, before)
  if (afterStep !== undefined) where('step > ?', afterStep)
  const filter = conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`
  return { filter, values, order }
}

/** The end of the statement, after its tables, with its values. */
export function restOf(query: CheckpointQuery): {
  readonly rest: string
  readonly values: readonly SqlValue[]
  readonly order: 'seq' | 'step'
} {
  const { filter, values, order } = filterOf(query)
  return {
    rest: `${filter} ORDER BY ${order} ${query.afterStep === undefined ? 'DESC' : 'ASC'} LIMIT ?`,
    values: [...values, query.limit ?? -1],
    order,
  }
}

export type BriefsQuery = Omit<CheckpointQuery, 'afterStep'>
/** `order`: its step in a session, else its place in the store; where the next page begins. */
export type OrderedBrief = CheckpointBrief & { readonly order: number }

export function countCheckpoints(database: Database, query: Omit<BriefsQuery, 'limit'>): number {
  const { filter, values } = filterOf(query)
  return number(
    database.get(`SELECT count(*) AS count FROM checkpoints ${filter}`, ...values)?.['count'],
  )
}

export function readBriefs(database: Database, query: BriefsQuery, vault: Vault): OrderedBrief[] {
  const { rest, values, order } = restOf(query)
  const row = database.get(
    `SELECT group_concat(brief) AS briefs FROM (
       SELECT json_array(${order}, checkpoints.id, kind, name, reason, checkpoints.created_at, pinned,
         sessions.id, step, checkpoints.status, checkpoints.status_reason, state IS NOT NULL, tree IS NOT NULL,
         files, insertions, deletions, skipped_counts, authors, ${MOMENT}, sessions.agent,
         checkpoints.turn, checkpoints.project, file_count) AS brief
       FROM checkpoints LEFT JOIN sessions ON sessions.key = checkpoints.session ${rest})`,
    ...values,
  )
  const briefs: unknown = JSON.parse(`[${optionalText(row?.['briefs']) ?? ''}]`)
  invariant(
    Array.isArray(briefs) && briefs.every((brief) => Array.isArray(brief)),
    'a list of rows',
  )
  // SQLite does not promise the order of an aggregate. In practice the rows are sorted already, so this is one pass.
  return briefs.sort(([a], [b]) => number(b) - number(a)).map((columns) => briefOf(columns, vault))
}

/** The metadata keys that checkpointMoment needs. Sealed metadata is not JSON, and is returned as a string. */
const MOMENT = `json(CASE WHEN json_valid(checkpoints.metadata) THEN json_array(
  json_extract(checkpoints.metadata, '$.agentSession'), json_extract(checkpoints.metadata, '$.at'),
  json_type(checkpoints.metadata, '$.calls') = 'array') ELSE json_quote(checkpoints.metadata) END)`

function momentIn(
  value: unknown,
  { id, vault }: { readonly id: CheckpointId; readonly vault: Vault },
): CheckpointBrief['moment'] {
  if (typeof value === 'string') {
    const shown = openForDisplay(vault, value, checkpointContext(id))
    return 'text' in shown ? readCheckpointMoment(JSON.parse(shown.text)) : null
  }
  if (!Array.isArray(value)) return null
  const [agentSession, at, hasCalls]: readonly unknown[] = value
  return checkpointMoment({ agentSession, at, hasCalls: hasCalls === 1 })
}

function briefOf(columns: readonly unknown[], vault: Vault): OrderedBrief {
  const [order, id, kind, name, reason, createdAt, pinned, sessionId, step, status, statusReason] =
    columns
  const [hasState, hasFiles, files, insertions, deletions, skippedCounts, authors, moment] =
    columns.slice(11)
  const [agent, turn, project, fileCount] = columns.slice(19)
  const isInSession = sessionId !== null
  return {
    order: number(order),
    id: parseCheckpointId(text(id)),
    kind: text(kind) as CheckpointKind,
    name: optionalText(name),
    reason: optionalText(reason),
    createdAtMs: number(createdAt),
    pinned: number(pinned) !== 0,
    authors: parseAuthors(authors),
    project: project === null ? null : parseProjectId(text(project)),
    sessionId: optionalText(sessionId),
    agent: optionalText(agent),
    turn: isInSession ? number(turn) : null,
    step: isInSession ? number(step) : null,
    status: isInSession ? parseStatus(text(status), optionalText(statusReason)) : null,
    hasState: hasState === 1,
    hasFiles: hasFiles === 1,
    // A prune that removes the files keeps their number.
    filesPruned: hasFiles !== 1 && fileCount !== null,
    changes:
      hasFiles === 1
        ? { files: number(files), insertions: number(insertions), deletions: number(deletions) }
        : null,
    skippedCounts: hasFiles === 1 ? (JSON.parse(text(skippedCounts)) as SkipCounts) : {},
    moment: momentIn(moment, { id: parseCheckpointId(text(id)), vault }),
  }
}

function number(value: unknown): number {
  invariant(typeof value === 'number', 'the column holds a number')
  return value
}

function text(value: unknown): string {
  invariant(typeof value === 'string', 'the column holds text')
  return value
}

function optionalText(value: unknown): string | null {
  return value === null || value === undefined ? null : text(value)
}
