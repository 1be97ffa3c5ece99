// Segments: their bytes, their hash chain, and the shape of their content. Rows are checked against the columns of the ledger where they
// are applied; here, only that a SegmentContent is one.
import { createHash } from 'node:crypto'
import { isRecord } from '../../base/index.js'
import {
  invariant,
  type LogName,
  SavestateError,
  type SegmentContent,
  SHARED_TABLES,
  type SharedRow,
} from '../../model/index.js'
import type { DecodedSegment, EncodedSegment } from '../remote.js'
import type { Codec } from './codec.js'

const HASH_BYTES = 32
const CONTENT_KEYS = 'elements isBase nextNumber nodes removed rows states version'

/** Only the first segment of a log and a base have no predecessor. */
export function encodeSegment(
  codec: Codec,
  {
    log,
    n,
    prev,
    content,
  }: {
    readonly log: LogName
    readonly n: number
    readonly prev: string | null
    readonly content: SegmentContent
  },
): EncodedSegment {
  invariant((prev === null) === (content.isBase || n === 1), 'a base has no predecessor')
  const body = codec.compress(content, ['segment', log.kind, log.id, n, prev])
  return { n, prev, hash: hashOf(prev, body), body }
}

export function decodeSegment(
  codec: Codec,
  log: LogName,
  { n, prev, hash, body }: EncodedSegment,
): DecodedSegment {
  const fail = (claim: string) => codec.damaged(`segment ${n} of ${log.kind} ${log.id} ${claim}`)
  if (hashOf(prev, body) !== hash) throw fail('does not have its hash')
  const content = codec.decompress(body, ['segment', log.kind, log.id, n, prev])
  if (isRecord(content) && Number(content['version']) > 1) throw segmentNewer()
  if (!isSegmentContent(content)) throw fail('has content that is not a segment')
  if ((prev === null) !== (content.isBase || n === 1)) throw fail('is a base in the middle')
  return { n, prev, hash, content }
}

function hashOf(prev: string | null, body: Uint8Array): string {
  const before = prev === null ? Buffer.alloc(HASH_BYTES) : Buffer.from(prev, 'hex')
  return createHash('sha256').update(before).update(body).digest('hex')
}

function isSegmentContent(value: unknown): value is SegmentContent {
  if (!isRecord(value) || Object.keys(value).sort().join(' ') !== CONTENT_KEYS) return false
  const { version, isBase, nextNumber, elements, nodes, states, rows, removed } = value
  return (
    version === 1 &&
    typeof isBase === 'boolean' &&
    isNumber(nextNumber) &&
    isList(elements, (it) => isTuple(it, 3) && isNumber(it[1]) && typeof it[2] === 'string') &&
    isList(nodes, (it) => isTuple(it, 2) && isList(it[1], isNumber)) &&
    isList(states, (it) => isTuple(it, 2)) &&
    isTables(rows) &&
    isTables(removed)
  )
}

function isTables(value: unknown): boolean {
  if (!isRecord(value)) return false
  return Object.entries(value).every(
    ([table, rows]) => SHARED_TABLES.some((it) => it === table) && isList(rows, isRow),
  )
}

function isRow(value: unknown): value is SharedRow {
  if (!isRecord(value)) return false
  return Object.values(value).every(
    (it) => it === null || typeof it === 'string' || typeof it === 'number',
  )
}

function isTuple(value: unknown, length: number): value is readonly unknown[] {
  return Array.isArray(value) && value.length === length && isNumber(value[0])
}

function isList(value: unknown, isItem: (item: unknown) => boolean): boolean {
  return Array.isArray(value) && value.every(isItem)
}

function isNumber(value: unknown): boolean {
  return Number.isSafeInteger(value) && Number(value) >= 0
}

function segmentNewer(): SavestateError {
  return new SavestateError(
    'STORE_NEWER',
    'The remote was written by a newer version of Savestate',
    {
      hint: 'Update Savestate on this machine.',
    },
  )
}
