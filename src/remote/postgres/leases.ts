// Leases: one UPDATE each, by the clock of the database. `fence` is the time of the take, and grows with every
// new holder, so a late write of an older one changes nothing.
import type { LogName } from '../../model/index.js'
import { orDamaged } from '../damaged-log.js'
import type { DriverHead, DriverProject, DriverTake, DriverTaken, RemoteDriver } from '../driver.js'
import type { RemoteLease } from '../remote.js'
import { type Database, numberIn, textIn } from './database.js'
import { HEAD_COLUMNS, headOf, LOG_AND_PROJECT, nameOf, readHead } from './heads.js'
import { unreachable } from './postgres-errors.js'

const MAX_TRIES = 5
/** Unique even if a failover loses takes: a take that comes after them gets another fence than theirs. */
const NEXT_FENCE =
  'greatest(v.fence + 1, floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint)'
const IS_FREE = '(v.holder IS NULL OR v.expires_at < clock_timestamp())'
/** Null: the lease never expires. */
const endAfter = (parameter: string) =>
  `clock_timestamp() + ${parameter}::float8 * interval '1 millisecond'`

export async function takeLease(db: Database, request: DriverTake): Promise<DriverTaken> {
  const { log, holder, leaseMs, create, ifFence } = request
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const [row] = await db.query(
      `UPDATE S.live AS v SET fence = ${NEXT_FENCE}, holder = $3, expires_at = ${endAfter('$4')}
        FROM ${LOG_AND_PROJECT}
        WHERE l.kind = $1 AND l.id = $2 AND v.log = l.key AND v.deleted_at IS NULL
          AND (${IS_FREE} OR v.fence = $5)
        RETURNING ${HEAD_COLUMNS}`,
      [log.kind, log.id, holder, leaseMs, ifFence ?? null],
    )
    if (row !== undefined) return takenBy(headOf(row))
    const head = await readHead(db, log)
    const isMissing = head === undefined || head.isDeleted
    if (!isMissing || create === undefined) return { taken: false, head }
    // Another process may create it at the same time; then one of the two gets the lease in the next round.
    if (head === undefined) await createLog(db, log, create)
    else await reviveLog(db, log, create)
  }
  throw unreachable(db.context.label, `other processes keep creating and deleting ${log.id}`)
}

/** Creates the log without a holder; does nothing if it exists. */
async function createLog(
  db: Database,
  log: LogName,
  { agent, project }: { readonly agent: string | null; readonly project: DriverProject | null },
): Promise<void> {
  await db.query(
    `WITH ${ADD_PROJECT}, added AS (
        INSERT INTO S.logs (kind, id, agent, project) VALUES ($1, $2, $3, $4)
        ON CONFLICT (kind, id) DO NOTHING RETURNING key)
      INSERT INTO S.live (log) SELECT key FROM added`,
    [log.kind, log.id, agent, project?.id ?? null, project?.card ?? null],
  )
}

/** `n` continues: a number is never used twice. */
async function reviveLog(
  db: Database,
  log: LogName,
  { agent, project }: { readonly agent: string | null; readonly project: DriverProject | null },
): Promise<void> {
  await db.query(
    `WITH ${ADD_PROJECT}, revived AS (
        UPDATE S.live AS v SET deleted_at = NULL, status = 'in_progress', updated_at = clock_timestamp()
        FROM S.logs AS l
        WHERE l.kind = $1 AND l.id = $2 AND v.log = l.key AND v.deleted_at IS NOT NULL RETURNING v.log)
      UPDATE S.logs AS l SET agent = $3, project = $4 FROM revived WHERE l.key = revived.log`,
    [log.kind, log.id, agent, project?.id ?? null, project?.card ?? null],
  )
}

const ADD_PROJECT = `named AS (
  INSERT INTO S.projects (id, card) SELECT $4::text, $5::bytea WHERE $4::text IS NOT NULL
  ON CONFLICT (id) DO NOTHING)`

export async function claimLease(
  db: Database,
  { agent, holder, leaseMs, except }: Parameters<RemoteDriver['claim']>[0],
): ReturnType<RemoteDriver['claim']> {
  const [row] = await db.query(
    `WITH free AS (
        SELECT v.log FROM S.live AS v JOIN S.logs AS l ON l.key = v.log
        WHERE v.status = 'in_progress' AND l.kind = 'session' AND v.deleted_at IS NULL
          AND v.hash IS NOT NULL AND (${IS_FREE} OR v.holder = $2) AND ($1::text IS NULL OR l.agent = $1)
          AND l.id <> ALL ($4::text[])
        ORDER BY v.holder IS NOT DISTINCT FROM $2 DESC, v.updated_at LIMIT 1 FOR UPDATE OF v SKIP LOCKED)
      UPDATE S.live AS v SET fence = ${NEXT_FENCE}, holder = $2, expires_at = ${endAfter('$3')}
        FROM free, ${LOG_AND_PROJECT} WHERE v.log = free.log AND l.key = free.log
        RETURNING ${HEAD_COLUMNS}`,
    [agent ?? null, holder, leaseMs, except],
  )
  if (row === undefined) return undefined
  const log = nameOf(row)
  return {
    lease: { log, fence: numberIn(row, 'fence') },
    head: orDamaged(log, () => headOf(row)),
  }
}

/** Returns the leases that are lost. */
export async function renewLeases(
  db: Database,
  leases: readonly RemoteLease[],
  leaseMs: number,
): Promise<readonly RemoteLease[]> {
  const rows = await db.query(
    `UPDATE S.live AS v SET expires_at = ${endAfter('$4')}
      FROM unnest($1::text[], $2::text[], $3::bigint[]) AS o (kind, id, fence), S.logs AS l
      WHERE l.kind = o.kind AND l.id = o.id AND v.log = l.key AND v.fence = o.fence
        AND v.holder IS NOT NULL
      RETURNING l.kind, l.id, v.fence`,
    [
      leases.map(({ log }) => log.kind),
      leases.map(({ log }) => log.id),
      leases.map(({ fence }) => fence),
      leaseMs,
    ],
  )
  const kept = new Set(
    rows.map((row) => `${textIn(row, 'kind')} ${numberIn(row, 'fence')} ${textIn(row, 'id')}`),
  )
  return leases.filter(({ log, fence }) => !kept.has(`${log.kind} ${fence} ${log.id}`))
}

export async function releaseLease(db: Database, { log, fence }: RemoteLease): Promise<void> {
  await db.query(
    `UPDATE S.live AS v SET holder = NULL, expires_at = NULL FROM S.logs AS l
      WHERE l.kind = $1 AND l.id = $2 AND v.log = l.key AND v.fence = $3`,
    [log.kind, log.id, fence],
  )
}

function takenBy(head: DriverHead): {
  readonly taken: true
  readonly lease: RemoteLease
  readonly head: DriverHead
} {
  return { taken: true, lease: { log: head.log, fence: head.fence }, head }
}
