// Reading the segments of a log, and deleting a log.
import type { LogName } from '../../model/index.js'
import { MAX_BODY_BYTES } from '../codec/index.js'
import type { EncodedSegment } from '../remote.js'
import {
  bytesOrNullIn,
  type Database,
  HASH_BYTES,
  hexIn,
  hexOrNullIn,
  numberIn,
} from './database.js'
import { readHead } from './heads.js'
import { SavestateError } from '../../model/index.js'

const PAGE_ROWS = 1000
/** The size of one answer, except for a single segment that is larger. */
export const PAGE_BYTES = 8 << 20
const MAX_TRIES = 10

/** Page by page, so that a long log needs little memory. A compaction between two pages is no harm: its base has a higher number. */
export async function* readSegments(
  db: Database,
  log: LogName,
  afterN: number,
): AsyncGenerator<EncodedSegment> {
  let last = afterN
  for (;;) {
    const rows = await db.query(
      `SELECT n, substr(prev, 1, ${HASH_BYTES + 1}) AS prev, substr(hash, 1, ${HASH_BYTES + 1}) AS hash, CASE WHEN size <= $4 THEN body END AS body, available FROM (
          SELECT page.*, count(*) OVER () AS available FROM (
            SELECT s.*, octet_length(body) AS size, sum(octet_length(body)) OVER (ORDER BY n) AS total,
              row_number() OVER (ORDER BY n) AS i
            FROM S.segments AS s WHERE log = (SELECT key FROM S.logs WHERE kind = $1 AND id = $2) AND n > $3
            ORDER BY n LIMIT ${PAGE_ROWS}) AS page) AS counted
        WHERE i = 1 OR total <= ${PAGE_BYTES} ORDER BY n`,
      [log.kind, log.id, last, MAX_BODY_BYTES],
      { answerBytes: PAGE_BYTES },
    )
    for (const row of rows) {
      const n = numberIn(row, 'n')
      const body = bytesOrNullIn(row, 'body')
      if (body === null) throw tooLarge(`segment ${n} of ${log.kind} ${log.id}`)
      yield { n, prev: hexOrNullIn(row, 'prev'), hash: hexIn(row, 'hash'), body }
      last = n
    }
    const available = rows[0] === undefined ? 0 : numberIn(rows[0], 'available')
    if (rows.length === available && available < PAGE_ROWS) return
  }
}

/** Leaves a tombstone: the rows in `logs` and `live`. Compare and swap, so that no segment of a concurrent commit survives. */
export async function deleteLog(
  db: Database,
  log: LogName,
  fence: number | null,
): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const head = await readHead(db, log)
    if (head === undefined || head.isDeleted) return false
    if (fence === null ? head.holder !== null : head.fence !== fence) return false
    const [row] = await db.query(
      `WITH gone AS (
          UPDATE S.live AS v SET deleted_at = clock_timestamp(), updated_at = clock_timestamp(), epoch = v.epoch + 1,
            fence = v.fence + 1, holder = NULL, expires_at = NULL, hash = NULL, card = NULL, status = 'completed'
          FROM S.logs AS l WHERE l.kind = $1 AND l.id = $2 AND v.log = l.key
            AND v.next_n = $3 AND v.epoch = $4 AND v.fence = $5 AND v.deleted_at IS NULL RETURNING v.log),
        s AS (DELETE FROM S.segments AS s USING gone WHERE s.log = gone.log),
        c AS (DELETE FROM S.checkpoints AS c USING gone WHERE c.log = gone.log)
        SELECT log FROM gone`,
      [log.kind, log.id, head.nextN, head.epoch, head.fence],
    )
    if (row !== undefined) return true
  }
  return false
}

export function tooLarge(name: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `The remote has a ${name} that is too large`, {
    hint: 'Run `savestate verify --remote`.',
  })
}
