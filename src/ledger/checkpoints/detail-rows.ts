// The details of checkpoints. Many checkpoints share one row, named by the hash of its text. The capture rules are rows of their own,
// which details refer to, because they are long and rarely change.
import { hash } from 'node:crypto'
import type {
  EffectiveRules,
  FilesCheckpoint,
  SnapshotDetails,
  UncapturedChanges,
} from '../../model/index.js'
import type { Database, SqlRow } from '../../system/index.js'
import { number, text } from '../rows.js'
import { forgetDetails } from '../sharing/numbers.js'

/** The hash of a row of rules starts with this prefix; the hash of details has none. */
const RULES = 'rules-'

/** As stored: `rules` is the hash of their row. */
type StoredDetails = Omit<SnapshotDetails, 'rules'> & { readonly rules?: string }

/** Inside a transaction. Returns the hash that the checkpoint refers to. */
export function storeDetails(database: Database, details: SnapshotDetails): string {
  const { skippedPaths, repositories, rewind, uncaptured, owners } = details
  const rules = details.rules && store(database, JSON.stringify(details.rules), RULES)
  // `uncaptured` comes first: readUncaptured searches for it by the first bytes.
  const row = { uncaptured, skippedPaths, repositories, rules, rewind, owners }
  return store(database, JSON.stringify(row))
}

/** `row` has the column `json`. If a repair has lost the rules, they count as not recorded. */
export function readDetails(database: Database, row: SqlRow): SnapshotDetails {
  const { rules, ...details } = parseDetails(row)
  const found =
    rules === undefined ? undefined : database.get('SELECT json FROM details WHERE hash = ?', rules)
  if (found === undefined) return details
  return { ...details, rules: JSON.parse(text(found, 'json')) as EffectiveRules }
}

function parseDetails(row: SqlRow): StoredDetails {
  return JSON.parse(text(row, 'json')) as StoredDetails
}

/** Changes of files that no checkpoint holds. */
export type UncapturedRow = UncapturedChanges & { readonly atMs: number }

/**
 * The ones of the project that are newer than this checkpoint, newest first. The query finds them by the first bytes of their
 * details: most checkpoints share one long list of skipped paths, which is then read once and not parsed.
 */
export function readUncaptured(
  database: Database,
  { id, project }: FilesCheckpoint,
): UncapturedRow[] {
  const rows = database.all(
    `WITH newer AS (SELECT seq, created_at, details FROM checkpoints
       WHERE project = ? AND seq > (SELECT seq FROM checkpoints WHERE id = ?)),
     listing AS (SELECT hash, json FROM details WHERE hash IN (SELECT DISTINCT details FROM newer)
       AND substr(json, 1, 14) = '{"uncaptured":')
     SELECT created_at, json FROM newer JOIN listing ON details = hash ORDER BY seq DESC`,
    project,
    id,
  )
  return rows.flatMap((row) => {
    const { uncaptured } = parseDetails(row)
    return uncaptured === undefined ? [] : [{ atMs: number(row, 'created_at'), ...uncaptured }]
  })
}

/** Removes the rows that nothing refers to. */
export function collectDetails(database: Database): void {
  const isUnused = (column: string) =>
    `${column} NOT IN (SELECT details FROM checkpoints WHERE details IS NOT NULL
       UNION SELECT details FROM shared_packs WHERE details IS NOT NULL
       UNION SELECT details FROM shared_saves WHERE details IS NOT NULL)`
  // Numbers first: one without a row would lead to a reference without a row.
  forgetDetails(database, isUnused('local'))
  database.run(`DELETE FROM details WHERE hash NOT LIKE '${RULES}%' AND ${isUnused('hash')}`)
  database.run(
    `WITH used (hash) AS (
       SELECT CASE WHEN json_valid(json) THEN json_extract(json, '$.rules') END FROM details)
     DELETE FROM details WHERE hash LIKE '${RULES}%'
     AND hash NOT IN (SELECT hash FROM used WHERE hash IS NOT NULL)`,
  )
}

function store(database: Database, json: string, prefix = ''): string {
  const key = `${prefix}${hash('sha256', json, 'hex')}`
  database.run('INSERT OR IGNORE INTO details (hash, json) VALUES (?, ?)', key, json)
  return key
}
