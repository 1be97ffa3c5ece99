// Segments: their bytes, and their hash chain. Their content is checked where it is applied, against the columns of the ledger.
import { createHash } from 'node:crypto'
import { isRecord } from '../../base/index.js'
import { invariant, type LogName, SavestateError, type SegmentContent } from '../../model/index.js'
import type { DecodedSegment, EncodedSegment } from '../remote.js'
import type { Codec, TextBudget } from './codec.js'

const HASH_BYTES = 32

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
  budget: TextBudget,
): DecodedSegment {
  const fail = (claim: string) => codec.damaged(`segment ${n} of ${log.kind} ${log.id} ${claim}`)
  if (hashOf(prev, body) !== hash) throw fail('does not have its hash')
  const content = codec.decompress(body, ['segment', log.kind, log.id, n, prev], budget)
  if (isRecord(content) && Number(content['version']) > 1) throw segmentNewer()
  if (!isContent(content)) throw fail('has content that is not a segment')
  if ((prev === null) !== (content.isBase || n === 1)) throw fail('is a base in the middle')
  return { n, prev, hash, content }
}

function hashOf(prev: string | null, body: Uint8Array): string {
  const before = prev === null ? Buffer.alloc(HASH_BYTES) : Buffer.from(prev, 'hex')
  return createHash('sha256').update(before).update(body).digest('hex')
}

/** The rest of the form is checked where a segment is applied. */
function isContent(content: unknown): content is SegmentContent {
  return isRecord(content) && content['version'] === 1 && typeof content['isBase'] === 'boolean'
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
