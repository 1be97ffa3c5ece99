// Compaction: replaces all segments of a log by one base. Compare and swap, like a commit: a client that hangs in it stops no writer.
import { type LogName, replacedBy, type SegmentContent } from '../model/index.js'
import { type Codec, decodeSegment, encodeSegment, TextBudget } from './codec/index.js'
import type { RemoteDriver } from './driver.js'
import type { DecodedSegment } from './remote.js'

const MAX_TRIES = 5

export async function compactLog(
  driver: RemoteDriver,
  codec: Codec,
  {
    log,
    rewrite,
    maxTextBytes,
  }: {
    readonly log: LogName
    readonly rewrite: (content: readonly SegmentContent[]) => SegmentContent | undefined
    /** The limit of all segments together, decompressed. Default: as for a reader. */
    readonly maxTextBytes?: number
  },
): Promise<boolean> {
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    const head = await driver.head(log)
    if (head === undefined || head.isDeleted || head.hash === null) return false
    const segments: DecodedSegment[] = []
    let bytes = 0
    let hash: string | null = null
    const budget = new TextBudget(maxTextBytes)
    for await (const encoded of driver.segments(log, 0)) {
      const segment = decodeSegment(codec, log, encoded, budget)
      // A base, possibly one that came while this loop was running.
      if (segment.prev === null) segments.length = bytes = 0
      else if (segment.prev !== hash) throw codec.damaged(`${log.kind} ${log.id} has a gap`)
      segments.push(segment)
      bytes += encoded.body.length
      hash = segment.hash
    }
    // A commit came between the two reads.
    if (hash !== head.hash) continue
    if (segments.length < 2) return false
    const rewritten = rewrite(segments.map(({ content }) => content))
    if (rewritten === undefined) return false
    const content = { ...rewritten, replaced: replacedBy(segments) }
    const segment = encodeSegment(codec, { log, n: head.nextN, prev: null, content })
    if (segment.body.length >= bytes) return false
    const { nextN, epoch } = head
    const before = { nextN, epoch, hash }
    const commit = { log, fence: null, before, segment, isBase: true, changes: null, packs: [] }
    const result = await driver.commit(commit)
    if (result.kind === 'done') return true
  }
  return false
}
