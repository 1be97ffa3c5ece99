// A commit is one statement, also the first one of a log without a lease. The UPDATE of `live` compares and swaps; all other parts read the row that it returns, so they do nothing if it
// changed nothing. The parts that a commit does not need are left out of the text.
//
// All parts have the snapshot of the start of the statement. This is safe: each statement that changes the segments or checkpoints of a log also
// changes its `next_n` or `epoch`, so if the snapshot is too old, the comparison fails.
import type { LogPosition } from '../../model/index.js'
import { remoteNewer } from '../check-format.js'
import { type DriverCommit, type DriverCommitResult, REMOTE_FORMAT } from '../driver.js'
import { type Database, hashBytes, numberIn } from './database.js'
import { HEAD_COLUMNS, HEAD_TABLES, headOf } from './heads.js'
import { renewLeases } from './leases.js'
import { isForeignKeyViolation } from './postgres-errors.js'

export async function commitSegment(
  db: Database,
  commit: DriverCommit,
): Promise<DriverCommitResult> {
  const { log, fence, before, changes } = commit
  const mayCreate =
    log.kind !== 'session' && fence === null && before.nextN === 1 && changes !== null
  const created = mayCreate
    ? await execute(db, commit, createStatement(commit, changes))
    : undefined
  return (
    created ??
    (await execute(db, commit, appendStatement(commit))) ??
    (await explainConflict(db, commit))
  )
}

type Statement = { readonly sql: string; readonly values: readonly unknown[] }

/** Undefined: nothing was written. */
async function execute(
  db: Database,
  { segment: { n, hash } }: DriverCommit,
  { sql, values }: Statement,
): Promise<DriverCommitResult | undefined> {
  try {
    const [row] = await db.queryRaw(sql, values)
    if (row === undefined) return undefined
    return { kind: 'done', position: { nextN: n + 1, epoch: numberIn(row, 'epoch'), hash } }
  } catch (error) {
    if (isForeignKeyViolation(error, 'packs_parent_fkey', 'checkpoints_pack_fkey'))
      return { kind: 'missing-pack' }
    throw db.explain(error)
  }
}

type Bind = (value: unknown) => string

/** The first segment of a log without a lease creates it. Writes nothing if the log exists. */
function createStatement(
  { log, before, segment, isBase, packs, project = null }: DriverCommit,
  changes: NonNullable<DriverCommit['changes']>,
): Statement {
  const values: unknown[] = []
  const bind = (value: unknown) => `$${values.push(value)}`
  const n = `${bind(segment.n)}::bigint`
  const hash = `${bind(hashBytes(segment.hash))}::bytea`
  const projectId = `${bind(project?.id ?? null)}::text`
  // Only a client that knows nothing of the log may create it.
  const isAtStart = `f.version = ${bind(REMOTE_FORMAT)} AND ${bind(before.epoch)}::bigint = 0 AND ${bind(before.hash)}::text IS NULL`
  const parts = [
    `named AS (INSERT INTO S.projects (id, card) SELECT ${projectId}, ${bind(project?.card ?? null)}::bytea
      WHERE ${projectId} IS NOT NULL ON CONFLICT (id) DO NOTHING)`,
    `added AS (INSERT INTO S.logs (kind, id, project)
      SELECT ${bind(log.kind)}::text, ${bind(log.id)}::text, ${projectId} FROM S.format AS f WHERE ${isAtStart}
      ON CONFLICT (kind, id) DO NOTHING RETURNING key)`,
    `moved AS (INSERT INTO S.live (log, next_n, epoch, hash, status, card)
      SELECT key, ${n} + 1, ${isBase ? 1 : 0}, ${hash}, ${bind(changes.status)}::text, ${bind(changes.card)}::bytea FROM added
      RETURNING log, epoch)`,
    segmentPart(segment, { n, hash, bind }),
    ...packParts(packs, bind),
    ...checkpointParts(changes, { isBase: false, bind }),
  ]
  return { sql: `WITH ${parts.join(', ')} SELECT epoch FROM moved`, values }
}

function appendStatement(commit: DriverCommit): Statement {
  const { log, fence, before, segment, isBase, changes, packs } = commit
  const values: unknown[] = []
  const bind = (value: unknown) => `$${values.push(value)}`
  const n = bind(segment.n)
  const hash = bind(hashBytes(segment.hash))
  const isRevival = log.kind !== 'session' && isBase && changes !== null
  const sets = [
    `next_n = v.next_n + 1, hash = ${hash}`,
    ...(isBase ? ['epoch = v.epoch + 1'] : []),
    ...(isRevival ? ['deleted_at = NULL'] : []),
    ...(changes === null
      ? []
      : [
          `status = ${bind(changes.status)}, card = ${bind(changes.card)}, updated_at = clock_timestamp()`,
        ]),
    ...(changes === null || changes.leaseMs === null
      ? []
      : [
          `expires_at = clock_timestamp() + ${bind(changes.leaseMs)}::float8 * interval '1 millisecond'`,
        ]),
  ]
  const conditions = [
    `l.kind = ${bind(log.kind)} AND l.id = ${bind(log.id)} AND v.log = l.key AND v.next_n = ${n}`,
    `v.epoch = ${bind(before.epoch)} AND v.hash IS NOT DISTINCT FROM ${bind(hashBytes(before.hash))}`,
    `f.version = ${bind(REMOTE_FORMAT)}`,
    ...(isRevival ? [] : ['v.deleted_at IS NULL']),
    ...(fence === null ? [] : [`v.fence = ${bind(fence)} AND v.holder IS NOT NULL`]),
  ]
  const parts = [
    `moved AS (UPDATE S.live AS v SET ${sets.join(', ')} FROM S.logs AS l, S.format AS f
      WHERE ${conditions.join(' AND ')} RETURNING v.log, v.epoch)`,
    segmentPart(segment, { n, hash, bind }),
    ...(isBase
      ? [`b AS (DELETE FROM S.segments AS s USING moved WHERE s.log = moved.log AND s.n < ${n})`]
      : []),
    ...packParts(packs, bind),
    ...(changes === null ? [] : checkpointParts(changes, { isBase, bind })),
  ]
  return { sql: `WITH ${parts.join(', ')} SELECT epoch FROM moved`, values }
}

function segmentPart(
  { prev, body }: DriverCommit['segment'],
  { n, hash, bind }: { readonly n: string; readonly hash: string; readonly bind: Bind },
): string {
  return `a AS (INSERT INTO S.segments (log, n, prev, hash, body)
    SELECT log, ${n}, ${bind(hashBytes(prev))}::bytea, ${hash}, ${bind(body)}::bytea FROM moved)`
}

function packParts(packs: DriverCommit['packs'], bind: Bind): readonly string[] {
  return packs.flatMap(({ id, parent, tree, project, body }, index) =>
    body === undefined
      ? []
      : [
          `p${index} AS (INSERT INTO S.packs (id, parent, tree, project, body, bytes, is_complete)
            SELECT ${bind(id)}, ${bind(parent)}, ${bind(tree)}, ${bind(project)}, ${bind(body)}::bytea, ${bind(body.length)}::bigint, true FROM moved
            ON CONFLICT (id) DO UPDATE SET body = excluded.body, bytes = excluded.bytes, is_complete = true
            WHERE NOT packs.is_complete)`,
        ],
  )
}

function checkpointParts(
  { checkpoints, removedCheckpoints }: NonNullable<DriverCommit['changes']>,
  { isBase, bind }: { readonly isBase: boolean; readonly bind: Bind },
): readonly string[] {
  const parts: string[] = []
  const ids = checkpoints.map(({ id }) => id)
  if (checkpoints.length > 0) {
    const steps = bind(checkpoints.map(({ step }) => step))
    const packs = bind(checkpoints.map(({ pack }) => pack))
    parts.push(`c AS (INSERT INTO S.checkpoints AS c (log, id, step, pack)
      SELECT moved.log, k.* FROM moved, unnest(${bind(ids)}::text[], ${steps}::bigint[], ${packs}::text[]) AS k
      ON CONFLICT (log, id) DO UPDATE SET step = excluded.step, pack = excluded.pack
      WHERE (c.step, c.pack) IS DISTINCT FROM (excluded.step, excluded.pack))`)
  }
  const kept = new Set(ids)
  const removed = removedCheckpoints.filter((id) => !kept.has(id))
  if (isBase)
    parts.push(`d AS (DELETE FROM S.checkpoints AS c USING moved WHERE c.log = moved.log
      AND NOT EXISTS (SELECT FROM unnest(${bind(ids)}::text[]) AS k (id) WHERE k.id = c.id))`)
  else if (removed.length > 0)
    parts.push(`d AS (DELETE FROM S.checkpoints AS c USING moved
      WHERE c.log = moved.log AND c.id = ANY (${bind(removed)}::text[]))`)
  return parts
}

/** The answer to an earlier try was lost, or someone else changed the log. */
async function explainConflict(db: Database, commit: DriverCommit): Promise<DriverCommitResult> {
  const { log, fence, segment, changes } = commit
  const [row] = await db.query(
    `SELECT f.version, h.* FROM S.format AS f LEFT JOIN (
        SELECT ${HEAD_COLUMNS}, EXISTS (SELECT FROM S.segments AS s
          WHERE s.log = l.key AND s.n = $3 AND s.hash = $4) AS is_there
        FROM ${HEAD_TABLES} WHERE l.kind = $1 AND l.id = $2) AS h ON true`,
    [log.kind, log.id, segment.n, hashBytes(segment.hash)],
  )
  if (row !== undefined && numberIn(row, 'version') > REMOTE_FORMAT)
    throw remoteNewer(db.context.label)
  if (row === undefined || row['id'] === null) return { kind: 'conflict', head: undefined }
  const head = headOf(row)
  if (row['is_there'] !== true) return { kind: 'conflict', head }
  const position: LogPosition = {
    nextN: segment.n + 1,
    epoch: head.epoch,
    hash: segment.hash,
  }
  if (fence === null) return { kind: 'done', position }
  // Its holder counts the lease from now on, so it is prolonged from now on.
  const lease = { log, fence }
  const leaseMs = changes?.leaseMs ?? null
  const isLost =
    leaseMs === null ? head.fence !== fence : (await renewLeases(db, [lease], leaseMs)).length > 0
  return isLost ? { kind: 'done', position, isFenced: true } : { kind: 'done', position }
}
