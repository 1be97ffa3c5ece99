// Reads lists of checkpoints with only the columns that a list shows. SQLite returns all rows as one JSON text, because returning
// each column of each row takes three times as long (docs/internals/performance.md#states).
import { isRecord } from '../../base/index.js'
import {
  type CheckpointBrief,
  type CheckpointKind,
  checkpointMoment,
  readCheckpointMoment,
  readFailed,
  readTests,
  testResult,
  parseCheckpointId,
  parseProjectId,
  type ProjectId,
  type SessionKey,
  type SkipCounts,
} from '../../model/index.js'
import type { Database, SqlRow, SqlValue } from '../../system/index.js'
import { parseAuthors } from './authors.js'
import { openForDisplay, type Vault } from '../encryption/index.js'
import { changesOf, number, optional, statusOf, text } from '../rows.js'

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
function filterOf(query: Omit<CheckpointQuery, 'limit'>) {
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
export function restOf(query: CheckpointQuery) {
  const { filter, values, order } = filterOf(query)
  const direction = query.afterStep === undefined ? 'DESC' : 'ASC'
  const rest = `${filter} ORDER BY ${order} ${direction} LIMIT ?`
  return { rest, values: [...values, query.limit ?? -1], order }
}

export type BriefsQuery = Omit<CheckpointQuery, 'afterStep'>
/** `order`: its step in a session, else its place in the store; where the next page begins. */
export type OrderedBrief = CheckpointBrief & { readonly order: number }

export function countCheckpoints(database: Database, query: Omit<BriefsQuery, 'limit'>): number {
  const { filter, values } = filterOf(query)
  const row = database.get(`SELECT count(*) AS count FROM checkpoints ${filter}`, ...values)
  return number(row ?? {}, 'count')
}

/** The columns of a brief that have the same name in the result. */
const COLUMNS =
  `id project kind name reason created_at pinned step status status_reason turn files insertions deletions
  file_count skipped_counts authors`
    .split(/\s+/)
    .map((column) => `'${column}', checkpoints.${column}`)

/** The metadata keys that checkpointMoment, readFailed and readTests need. Sealed metadata is not JSON, and is returned as a string. */
const MOMENT = `json(CASE WHEN json_valid(checkpoints.metadata) THEN json_object(
  'agentSession', json_extract(checkpoints.metadata, '$.agentSession'),
  'at', json_extract(checkpoints.metadata, '$.at'),
  'hasCalls', json_type(checkpoints.metadata, '$.calls') = 'array',
  'failed', json_type(checkpoints.metadata, '$.failed') = 'true',
  'tests', json_extract(checkpoints.metadata, '$.tests')) ELSE json_quote(checkpoints.metadata) END)`

export function readBriefs(database: Database, query: BriefsQuery, vault: Vault): OrderedBrief[] {
  const { rest, values, order } = restOf(query)
  const row = database.get(
    `SELECT group_concat(brief) AS briefs FROM (
       SELECT json_object('order', ${order}, ${COLUMNS.join()}, 'session_id', sessions.id,
         'agent', sessions.agent, 'has_state', state IS NOT NULL, 'has_files', tree IS NOT NULL,
         'metadata', ${MOMENT}) AS brief
       FROM checkpoints LEFT JOIN sessions ON sessions.key = checkpoints.session ${rest})`,
    ...values,
  )
  const briefs = JSON.parse(`[${optional(row ?? {}, 'briefs') ?? ''}]`) as SqlRow[]
  // SQLite does not promise the order of an aggregate. In practice the rows are sorted already, so this is one pass.
  return briefs
    .sort((a, b) => number(b, 'order') - number(a, 'order'))
    .map((brief) => toBrief(brief, vault))
}

function toBrief(row: SqlRow, vault: Vault): OrderedBrief {
  const project = optional(row, 'project')
  const hasFiles = number(row, 'has_files') === 1
  const isInSession = row['session_id'] !== null
  return {
    order: number(row, 'order'),
    id: parseCheckpointId(text(row, 'id')),
    kind: text(row, 'kind') as CheckpointKind,
    name: optional(row, 'name'),
    reason: optional(row, 'reason'),
    createdAtMs: number(row, 'created_at'),
    pinned: number(row, 'pinned') !== 0,
    authors: parseAuthors(row['authors']),
    project: project === null ? null : parseProjectId(project),
    sessionId: optional(row, 'session_id'),
    agent: optional(row, 'agent'),
    turn: isInSession ? number(row, 'turn') : null,
    step: isInSession ? number(row, 'step') : null,
    status: isInSession ? statusOf(row) : null,
    hasState: number(row, 'has_state') === 1,
    hasFiles,
    // A prune that removes the files keeps their number.
    filesPruned: !hasFiles && row['file_count'] !== null,
    changes: hasFiles ? changesOf(row) : null,
    skippedCounts: hasFiles ? (JSON.parse(text(row, 'skipped_counts')) as SkipCounts) : {},
    ...readEvent(row, vault),
  }
}

/** Reads from the metadata: the hooks of agents record the event there. */
function readEvent(
  row: SqlRow,
  vault: Vault,
): Pick<CheckpointBrief, 'moment' | 'failed' | 'tests'> {
  const { metadata } = row
  if (typeof metadata === 'string') {
    const shown = openForDisplay(vault, 'checkpoints.metadata', row)
    const opened: unknown = typeof shown === 'string' ? JSON.parse(shown) : null
    return {
      moment: readCheckpointMoment(opened),
      failed: readFailed(opened),
      tests: readTests(opened),
    }
  }
  if (!isRecord(metadata)) return { moment: null, failed: false, tests: null }
  const { agentSession, at, hasCalls, failed, tests } = metadata
  const isOfAgent = typeof agentSession === 'string'
  return {
    moment: checkpointMoment({ agentSession, at, hasCalls: hasCalls === 1 }),
    failed: isOfAgent && failed === 1,
    tests: isOfAgent ? testResult(tests) : null,
  }
}
