// An audit inside the database, independent of the program: triggers record every segment, every lease and every removed checkpoint, in
// the transactions that they are part of, with the process (application_name) that sent the statement.
import type { TestDatabase } from '../../test/support/postgres/index.js'

/** The processes of the torture that write without a lease: they compact logs, and remove packs and expired leases. */
export const KEEPER = 'keeper'

const SCHEMA = `
CREATE SCHEMA audit;
CREATE TABLE audit.segments (log bigint, n bigint, prev bytea, hash bytea, is_whole boolean, fence bigint, is_held boolean, process text);
CREATE TABLE audit.leases (log bigint, fence bigint, before bigint, process text);
CREATE TABLE audit.removed (log bigint, id text, process text);
CREATE FUNCTION audit.segment() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit.segments SELECT NEW.log, NEW.n, NEW.prev, NEW.hash,
    sha256(coalesce(NEW.prev, decode(repeat('00', 32), 'hex')) || NEW.body) = NEW.hash,
    v.fence, v.holder IS NOT NULL, current_setting('application_name') FROM savestate.live AS v WHERE v.log = NEW.log;
  RETURN NULL; END $$;
CREATE FUNCTION audit.lease() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit.leases VALUES (NEW.log, NEW.fence, OLD.fence, current_setting('application_name'));
  RETURN NULL; END $$;
CREATE FUNCTION audit.removal() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO audit.removed VALUES (OLD.log, OLD.id, current_setting('application_name'));
  RETURN NULL; END $$;
CREATE TRIGGER audit AFTER INSERT OR UPDATE ON savestate.segments FOR EACH ROW EXECUTE FUNCTION audit.segment();
CREATE TRIGGER audit AFTER UPDATE ON savestate.live FOR EACH ROW WHEN (OLD.fence <> NEW.fence
  OR NEW.holder IS NOT NULL AND NEW.holder IS DISTINCT FROM OLD.holder) EXECUTE FUNCTION audit.lease();
CREATE TRIGGER audit AFTER DELETE ON savestate.checkpoints FOR EACH ROW EXECUTE FUNCTION audit.removal();
`

export async function startAudit(database: TestDatabase): Promise<void> {
  await database.sql(SCHEMA)
}

/** Each query returns what must not exist. */
const VIOLATIONS: Readonly<Record<string, string>> = {
  'a number that was used twice':
    'SELECT log, n FROM audit.segments GROUP BY log, n HAVING count(*) > 1',
  'a number that was left out': `SELECT v.log, v.next_n, count(s.n) FROM savestate.live AS v
    LEFT JOIN audit.segments AS s ON s.log = v.log GROUP BY v.log, v.next_n
    HAVING count(s.n) <> v.next_n - 1 OR coalesce(max(s.n), 0) <> v.next_n - 1`,
  'a segment without its hash': 'SELECT log, n FROM audit.segments WHERE is_whole IS NOT TRUE',
  'a break in a chain': `SELECT s.log, s.n FROM audit.segments AS s
    JOIN audit.segments AS p ON p.log = s.log AND p.n = s.n - 1
    WHERE s.prev IS NOT NULL AND s.prev <> p.hash`,
  'a head that is not its last segment': `SELECT v.log FROM savestate.live AS v
    JOIN audit.segments AS s ON s.log = v.log AND s.n = v.next_n - 1 WHERE s.hash IS DISTINCT FROM v.hash`,
  'a segment in the table that was not committed so': `SELECT s.log, s.n FROM savestate.segments AS s
    LEFT JOIN audit.segments AS a ON a.log = s.log AND a.n = s.n WHERE s.hash IS DISTINCT FROM a.hash`,
  'a segment that is missing from the table': `SELECT a.log, a.n FROM audit.segments AS a
    WHERE a.n >= (SELECT max(b.n) FROM audit.segments AS b WHERE b.log = a.log AND b.prev IS NULL)
    AND NOT EXISTS (SELECT FROM savestate.segments AS s WHERE s.log = a.log AND s.n = a.n)`,
  'a fence that decreased': `SELECT s.log, s.n, s.fence, p.fence AS before FROM audit.segments AS s
    JOIN audit.segments AS p ON p.log = s.log AND p.n = s.n - 1 WHERE s.fence < p.fence`,
  'a fence that was given twice, or did not grow': `SELECT log, fence FROM audit.leases
    GROUP BY log, fence HAVING count(*) > 1 OR bool_or(fence <= before) ORDER BY log, fence`,
  'a segment of a process without the lease': `SELECT s.log, s.n, s.fence, s.process, l.process AS holder
    FROM audit.segments AS s LEFT JOIN audit.leases AS l ON l.log = s.log AND l.fence = s.fence
    WHERE s.process NOT LIKE '${KEEPER}%' AND (NOT s.is_held OR s.process IS DISTINCT FROM l.process)`,
  'a checkpoint whose pack is missing or incomplete': `WITH RECURSIVE needed AS (
      SELECT pack AS id FROM savestate.checkpoints WHERE pack IS NOT NULL
      UNION SELECT k.parent FROM needed JOIN savestate.packs AS k ON k.id = needed.id WHERE k.parent IS NOT NULL)
    SELECT needed.id FROM needed LEFT JOIN savestate.packs AS k ON k.id = needed.id WHERE k.is_complete IS NOT TRUE`,
}

export async function findViolations(database: TestDatabase): Promise<readonly string[]> {
  const found: string[] = []
  for (const [what, query] of Object.entries(VIOLATIONS))
    for (const row of await database.sql(query)) found.push(`${what}: ${JSON.stringify(row)}`)
  return found
}

export type AuditCounts = {
  readonly segments: number
  readonly leases: number
  /** How many segments followed a segment of another process. */
  readonly changes: number
  readonly sessions: number
}

export async function countAudit(database: TestDatabase): Promise<AuditCounts> {
  const [row] = await database.sql(`SELECT
    (SELECT count(*) FROM audit.segments)::int AS segments,
    (SELECT count(*) FROM audit.leases)::int AS leases,
    (SELECT count(*) FROM audit.segments AS s JOIN audit.segments AS p ON p.log = s.log AND p.n = s.n - 1
      WHERE s.process <> p.process)::int AS changes,
    (SELECT count(*) FROM savestate.live)::int AS sessions`)
  return row as AuditCounts
}

/** Checkpoints that were removed from a session, by its id. */
export async function removedCheckpoints(
  database: TestDatabase,
): Promise<readonly { readonly session: string; readonly id: string; readonly process: string }[]> {
  const rows = await database.sql(
    'SELECT l.id AS session, r.id, r.process FROM audit.removed AS r JOIN savestate.logs AS l ON l.key = r.log',
  )
  return rows as { session: string; id: string; process: string }[]
}

/** All sessions, with those that became forks. */
export async function sessionIds(database: TestDatabase): Promise<readonly string[]> {
  const rows = await database.sql(
    `SELECT l.id FROM savestate.logs AS l JOIN savestate.live AS v ON v.log = l.key
      WHERE l.kind = 'session' AND v.deleted_at IS NULL AND v.next_n > 1 ORDER BY l.id`,
  )
  return rows.map(({ id }) => String(id))
}
