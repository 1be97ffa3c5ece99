// The head of a log: its rows in `logs` and `live`.
import { invariant, LOG_KINDS, type LogKind, type LogName } from '../../model/index.js'
import type { DriverHead } from '../driver.js'
import {
  bytesIn,
  bytesOrNullIn,
  type Database,
  hexOrNullIn,
  numberIn,
  statusIn,
  textIn,
  textOrNullIn,
} from './database.js'
import type { Row } from './queries.js'

/** `live` is v, `logs` is l, `projects` is p. A lease that has expired is none. */
export const HEAD_COLUMNS = `l.kind, l.id, v.fence, v.next_n, v.epoch, v.hash, v.status, v.card,
  round(extract(epoch FROM v.updated_at) * 1000)::bigint AS updated_ms, v.deleted_at IS NOT NULL AS is_deleted,
  CASE WHEN v.expires_at < clock_timestamp() THEN NULL ELSE v.holder END AS holder,
  CASE WHEN v.holder IS NULL THEN NULL
    ELSE round(extract(epoch FROM v.expires_at - clock_timestamp()) * 1000)::bigint END AS ends_ms,
  p.id AS project, p.card AS project_card`

/** For an UPDATE of `live AS v`, whose FROM cannot name it. */
export const LOG_AND_PROJECT = 'S.logs AS l LEFT JOIN S.projects AS p ON p.id = l.project'
export const HEAD_TABLES = `${LOG_AND_PROJECT} JOIN S.live AS v ON v.log = l.key`

export async function readHead(db: Database, log: LogName): Promise<DriverHead | undefined> {
  const [row] = await db.query(
    `SELECT ${HEAD_COLUMNS} FROM ${HEAD_TABLES} WHERE l.kind = $1 AND l.id = $2`,
    [log.kind, log.id],
  )
  return row === undefined ? undefined : headOf(row)
}

export async function readHeads(
  db: Database,
  {
    kind,
    withDeleted = false,
    limit,
  }: { readonly kind?: LogKind; readonly withDeleted?: boolean; readonly limit?: number },
): Promise<readonly DriverHead[]> {
  const rows = await db.query(
    `SELECT ${HEAD_COLUMNS} FROM ${HEAD_TABLES}
      WHERE ($1::text IS NULL OR l.kind = $1) AND ($2 OR v.deleted_at IS NULL)
      ORDER BY v.updated_at DESC, l.key DESC LIMIT $3`,
    [kind ?? null, withDeleted, limit ?? null],
  )
  return rows.map(headOf)
}

export function headOf(row: Row): DriverHead {
  const holder = bytesOrNullIn(row, 'holder')
  const project = textOrNullIn(row, 'project')
  return {
    log: { kind: kindIn(row), id: textIn(row, 'id') },
    nextN: numberIn(row, 'next_n'),
    epoch: numberIn(row, 'epoch'),
    hash: hexOrNullIn(row, 'hash'),
    fence: numberIn(row, 'fence'),
    status: statusIn(row, 'status'),
    updatedAtMs: numberIn(row, 'updated_ms'),
    card: bytesOrNullIn(row, 'card'),
    project: project === null ? null : { id: project, card: bytesIn(row, 'project_card') },
    holder,
    // The clock is read twice, so a lease may end between the two.
    leaseEndsInMs:
      holder === null || row['ends_ms'] === null ? null : Math.max(0, numberIn(row, 'ends_ms')),
    isDeleted: row['is_deleted'] === true,
  }
}

function kindIn(row: Row): LogKind {
  const kind = LOG_KINDS.find((each) => each === row['kind'])
  invariant(kind !== undefined, 'the table allows the known kinds only')
  return kind
}
