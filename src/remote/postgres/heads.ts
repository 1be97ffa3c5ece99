// The head of a log: its rows in `logs` and `live`.
import {
  invariant,
  LOG_KINDS,
  type LogKind,
  type LogName,
  type LogSize,
} from '../../model/index.js'
import { MAX_CARD_BYTES, MAX_ID_CHARS } from '../codec/index.js'
import type { DriverHead } from '../driver.js'
import { type DamagedLog, orDamaged } from '../damaged-log.js'
import {
  bytesIn,
  bytesOrNullIn,
  type Database,
  HASH_BYTES,
  hexOrNullIn,
  numberIn,
  statusIn,
  textIn,
  textOrNullIn,
  unreadable,
} from './database.js'
import type { Row } from './queries.js'

const id = (column: string) => `left(${column}, ${MAX_ID_CHARS + 1})`
const bytes = (column: string, max: number) => `substr(${column}, 1, ${max + 1})`

/**
 * `live` is v, `logs` is l, `projects` is p. A lease that has expired is none. A teammate may write long values: of each,
 * one byte more than its limit is fetched.
 */
export const HEAD_COLUMNS = `l.kind, ${id('l.id')} AS id, v.fence, v.next_n, v.epoch, ${bytes('v.hash', HASH_BYTES)} AS hash,
  v.status, ${bytes('v.card', MAX_CARD_BYTES)} AS card,
  round(extract(epoch FROM v.updated_at) * 1000)::bigint AS updated_ms, v.deleted_at IS NOT NULL AS is_deleted,
  CASE WHEN v.expires_at < clock_timestamp() THEN NULL ELSE ${bytes('v.holder', MAX_CARD_BYTES)} END AS holder,
  CASE WHEN v.holder IS NULL THEN NULL
    ELSE round(extract(epoch FROM v.expires_at - clock_timestamp()) * 1000)::bigint END AS ends_ms,
  ${id('p.id')} AS project, ${bytes('p.card', MAX_CARD_BYTES)} AS project_card`

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
): Promise<readonly (DriverHead | DamagedLog)[]> {
  const rows = await db.query(
    `SELECT ${HEAD_COLUMNS} FROM ${HEAD_TABLES}
      WHERE ($1::text IS NULL OR l.kind = $1) AND ($2 OR v.deleted_at IS NULL)
      ORDER BY v.updated_at DESC, l.key DESC LIMIT $3`,
    [kind ?? null, withDeleted, limit ?? null],
  )
  return rows.map((row) => orDamaged(nameOf(row), () => headOf(row)))
}

export function nameOf(row: Row): LogName {
  return { kind: kindIn(row), id: textIn(row, 'id') }
}

/** For all logs of a large remote. */
const SIZES_TIMEOUT_MS = 600_000

/** Numbers have no gaps, so the first and the next one give the count of the segments. */
export async function readSizes(
  db: Database,
  log: LogName | undefined,
): Promise<readonly (LogSize & { readonly log: LogName })[]> {
  const rows = await db.query(
    `SELECT l.kind, l.id,
        v.next_n - coalesce((SELECT min(n) FROM S.segments AS s WHERE s.log = l.key), v.next_n) AS segments,
        (SELECT count(*) FROM S.checkpoints AS c WHERE c.log = l.key) AS checkpoints
      FROM S.logs AS l JOIN S.live AS v ON v.log = l.key
      WHERE v.deleted_at IS NULL AND ($1::text IS NULL OR l.kind = $1 AND l.id = $2)`,
    [log?.kind ?? null, log?.id ?? null],
    log === undefined ? { timeoutMs: SIZES_TIMEOUT_MS } : {},
  )
  return rows.map((row) => ({
    log: nameOf(row),
    segments: numberIn(row, 'segments'),
    checkpoints: numberIn(row, 'checkpoints'),
  }))
}

export function headOf(row: Row): DriverHead {
  const holder = bytesOrNullIn(row, 'holder', MAX_CARD_BYTES)
  const project = textOrNullIn(row, 'project', MAX_ID_CHARS)
  const log = nameOf(row)
  if (log.id.length > MAX_ID_CHARS) throw unreadable('id')
  return {
    log,
    nextN: numberIn(row, 'next_n'),
    epoch: numberIn(row, 'epoch'),
    hash: hexOrNullIn(row, 'hash'),
    fence: numberIn(row, 'fence'),
    status: statusIn(row, 'status'),
    updatedAtMs: numberIn(row, 'updated_ms'),
    card: bytesOrNullIn(row, 'card', MAX_CARD_BYTES),
    project:
      project === null ? null : { id: project, card: bytesIn(row, 'project_card', MAX_CARD_BYTES) },
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
