// Reads the checkpoints whose details list uncaptured changes: changes of files that no checkpoint holds.
import type { FilesCheckpoint, UncapturedChanges } from '../../model/index.js'
import type { Database } from '../../system/index.js'
import { parseDetails } from './detail-rows.js'
import { number } from '../rows.js'

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
