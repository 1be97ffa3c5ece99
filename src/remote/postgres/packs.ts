// Packs: up to 256 KB in their row, larger ones in chunks of 1 MB, and `is_complete` last. The foreign keys decide every race between a
// writer and a collector.
import { createHash, randomUUID } from 'node:crypto'
import { INLINE_PACK_BYTES, PACK_CHUNK_BYTES, SavestateError } from '../../model/index.js'
import type { DriverPack, StoredPack } from '../driver.js'
import {
  bytesIn,
  bytesOrNullIn,
  type Database,
  HASH_BYTES,
  numberIn,
  textIn,
  textOrNullIn,
} from './database.js'
import { isForeignKeyViolation, unreachable } from './postgres-errors.js'
import type { Row } from './queries.js'
import { PAGE_BYTES, tooLarge } from './segments.js'

/** More than an envelope and a header are long. */
const MAX_INLINE_BYTES = INLINE_PACK_BYTES + 4096
/** The id of an object of git, or a keyed hash of it. */
const MAX_TREE_CHARS = 64
const COLLECT_TIMEOUT_MS = 600_000
const MAX_TRIES = 5

export async function putPack(
  db: Database,
  pack: DriverPack,
  chunks: AsyncIterable<Uint8Array>,
): Promise<'done' | 'missing-pack'> {
  const upload = randomUUID()
  const { id, parent, tree, project } = pack
  try {
    // Another upload of this pack, that was killed or still runs, can add no chunk from here on.
    const [row] = await db.queryRaw(
      `WITH begun AS (
          INSERT INTO S.packs (id, parent, tree, project, upload, is_complete) VALUES ($1, $2, $3, $4, $5, false)
          ON CONFLICT (id) DO UPDATE SET parent = excluded.parent, tree = excluded.tree, project = excluded.project,
            upload = excluded.upload, created_at = clock_timestamp() WHERE NOT packs.is_complete
          RETURNING id),
        old AS (DELETE FROM S.pack_chunks AS c USING begun WHERE c.pack = begun.id)
        SELECT id FROM begun`,
      [id, parent, tree, project, upload],
    )
    if (row === undefined) return 'done'
  } catch (error) {
    if (isForeignKeyViolation(error, 'packs_parent_fkey')) return 'missing-pack'
    throw db.explain(error)
  }
  const sha256 = createHash('sha256')
  let bytes = 0
  let n = 0
  for await (const chunk of chunks) {
    sha256.update(chunk)
    bytes += chunk.length
    const [row] = await db.query(
      `INSERT INTO S.pack_chunks (pack, n, body)
        SELECT id, $3, $4::bytea FROM S.packs WHERE id = $1 AND upload = $2 AND NOT is_complete FOR SHARE
        ON CONFLICT (pack, n) DO UPDATE SET body = excluded.body RETURNING n`,
      [id, upload, n, chunk],
    )
    if (row === undefined) return otherUpload(db, id)
    n++
  }
  const [row] = await db.query(
    `UPDATE S.packs SET is_complete = true, bytes = $3, sha256 = $4 WHERE id = $1 AND upload = $2 RETURNING id`,
    [id, upload, bytes, sha256.digest()],
  )
  return row === undefined ? otherUpload(db, id) : 'done'
}

/** Another process uploads the same pack, or the collector removed it, or our answer was lost. */
async function otherUpload(db: Database, id: string): Promise<'done'> {
  const [row] = await db.query('SELECT is_complete FROM S.packs WHERE id = $1', [id])
  if (row?.['is_complete'] === true) return 'done'
  throw unreachable(db.context.label, `another process is uploading pack ${id}`)
}

export async function* readPacks(
  db: Database,
  id: string,
  known: ReadonlySet<string>,
): AsyncGenerator<StoredPack> {
  // UNION ends circles, which only damage can make.
  const rows = await db.query(
    `WITH RECURSIVE chain AS (
        SELECT id, parent FROM S.packs WHERE id = $1
        UNION SELECT k.id, k.parent FROM chain JOIN S.packs AS k ON k.id = chain.parent)
      SELECT k.id, k.parent, left(k.tree, ${MAX_TREE_CHARS + 1}) AS tree, k.bytes, substr(k.sha256, 1, ${HASH_BYTES + 1}) AS sha256, k.is_complete, k.body IS NOT NULL AS is_inline
      FROM chain JOIN S.packs AS k ON k.id = chain.id`,
    [id],
  )
  const chain = chainFrom(id, known, new Map(rows.map((row) => [textIn(row, 'id'), row])))
  if (chain.some((row) => row['is_complete'] !== true)) throw missing(id)
  for (let i = 0; i < chain.length; ) {
    const page = inlineFrom(chain, i)
    if (page.length > 0) yield* readInline(db, page)
    else yield storedOf(chain[i] as Row, readChunks(db, chain[i] as Row))
    i += Math.max(1, page.length)
  }
}

/** From the outermost parent that is not known to `id`. */
function chainFrom(id: string, known: ReadonlySet<string>, rows: Map<string, Row>): readonly Row[] {
  const chain: Row[] = []
  let next: string | null = id
  while (next !== null && !known.has(next)) {
    const row = rows.get(next)
    if (row === undefined) throw missing(next)
    // Each row once: a circle ends here.
    rows.delete(next)
    chain.push(row)
    next = textOrNullIn(row, 'parent')
  }
  return chain.reverse()
}

/** The packs from `i` on that are in their rows, as many as one answer may hold. */
function inlineFrom(chain: readonly Row[], i: number): readonly Row[] {
  const page: Row[] = []
  let bytes = 0
  for (const row of chain.slice(i)) {
    if (row['is_inline'] !== true) return page
    bytes += numberIn(row, 'bytes')
    if (page.length > 0 && bytes > PAGE_BYTES) return page
    page.push(row)
  }
  return page
}

async function* readInline(db: Database, page: readonly Row[]): AsyncGenerator<StoredPack> {
  const rows = await db.query(
    'SELECT id, CASE WHEN octet_length(body) <= $2 THEN body END AS body FROM S.packs WHERE id = ANY ($1::text[])',
    [page.map((row) => textIn(row, 'id')), MAX_INLINE_BYTES],
    { answerBytes: PAGE_BYTES },
  )
  const bodies = new Map(rows.map((row) => [textIn(row, 'id'), bytesOrNullIn(row, 'body')]))
  for (const row of page) {
    const id = textIn(row, 'id')
    const body = bodies.get(id)
    if (body === undefined) throw missing(id)
    if (body === null) throw tooLarge(`pack ${id}`)
    yield storedOf(row, piecesOf(body))
  }
}

async function* readChunks(db: Database, row: Row): AsyncGenerator<Uint8Array> {
  const id = textIn(row, 'id')
  const sha256 = createHash('sha256')
  const total = numberIn(row, 'bytes')
  let bytes = 0
  for (let n = 0; bytes < total; n++) {
    const [chunk] = await db.query(
      `SELECT CASE WHEN octet_length(body) <= ${PACK_CHUNK_BYTES} THEN body END AS body
        FROM S.pack_chunks WHERE pack = $1 AND n = $2`,
      [id, n],
      { answerBytes: 2 * PACK_CHUNK_BYTES },
    )
    if (chunk === undefined) throw missing(id)
    const body = bytesOrNullIn(chunk, 'body')
    if (body === null || body.length === 0) throw tooLarge(`pack ${id}`)
    sha256.update(body)
    bytes += body.length
    yield body
  }
  if (bytes !== total || !sha256.digest().equals(bytesIn(row, 'sha256', HASH_BYTES)))
    throw missing(id)
}

function storedOf(row: Row, chunks: AsyncIterable<Uint8Array>): StoredPack {
  return {
    id: textIn(row, 'id'),
    parent: textOrNullIn(row, 'parent'),
    tree: textIn(row, 'tree', MAX_TREE_CHARS),
    chunks,
  }
}

async function* piecesOf(body: Uint8Array): AsyncGenerator<Uint8Array> {
  yield body
}

/**
 * Removes the packs that no checkpoint needs: complete ones at once, unfinished uploads after a day. If a writer refers to one of them
 * meanwhile, its foreign key makes the statement fail, and the next try sees the reference. After a wait for an upload that was begun again,
 * PostgreSQL reads the locked row again, but not `needed`: so the age is compared twice.
 */
export async function collectPacks(
  db: Database,
): Promise<{ readonly removed: number; readonly bytes: number }> {
  for (let tries = 1; ; tries++) {
    try {
      const [row] = await db.queryRaw(
        `WITH RECURSIVE needed AS (
            SELECT pack AS id FROM S.checkpoints WHERE pack IS NOT NULL
            UNION SELECT id FROM S.packs WHERE NOT is_complete AND created_at > clock_timestamp() - interval '1 day'
            UNION SELECT k.parent FROM needed JOIN S.packs AS k ON k.id = needed.id WHERE k.parent IS NOT NULL),
          gone AS (DELETE FROM S.packs AS k
            WHERE NOT EXISTS (SELECT FROM needed WHERE needed.id = k.id)
              AND (k.is_complete OR k.created_at <= clock_timestamp() - interval '1 day') RETURNING bytes)
          SELECT count(*) AS removed, coalesce(sum(bytes), 0) AS bytes FROM gone`,
        [],
        { timeoutMs: COLLECT_TIMEOUT_MS },
      )
      if (row === undefined) return { removed: 0, bytes: 0 }
      return { removed: numberIn(row, 'removed'), bytes: numberIn(row, 'bytes') }
    } catch (error) {
      const isRace = isForeignKeyViolation(error, 'packs_parent_fkey', 'checkpoints_pack_fkey')
      if (!isRace) throw db.explain(error)
      if (tries === MAX_TRIES)
        throw unreachable(
          db.context.label,
          'writers keep using the packs that are collected',
          error,
        )
    }
  }
}

function missing(id: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `The remote lacks pack ${id}, or a part of it`, {
    hint: 'Run `savestate verify --remote`.',
  })
}
