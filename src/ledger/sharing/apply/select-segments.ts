// Which of the given segments are not here yet, and whether they follow what is here.
import {
  type LogPosition,
  SavestateError,
  type SegmentContent,
  segmentFault,
} from '../../../model/index.js'

/** As `DecodedSegment` of src/remote/remote.ts. */
export type SegmentToApply = {
  readonly n: number
  readonly prev: string | null
  readonly hash: string
  readonly content: SegmentContent
}

/** The segments after the position of the log. A base replaces what is here, so those before it are not needed. */
export function selectSegments(
  segments: readonly SegmentToApply[],
  position: Pick<LogPosition, 'nextN' | 'hash'> = { nextN: 1, hash: null },
): readonly SegmentToApply[] {
  const { nextN, hash } = position
  const isAhead = (segments.at(-1)?.n ?? 0) + 1 >= nextN
  const isWhole = isAhead && segments[0]?.content.isBase === true
  const fresh = isWhole ? segments : segments.filter(({ n }) => n >= nextN)
  for (const [index, { n, prev, content }] of fresh.entries()) {
    const before = fresh[index - 1]
    const expected =
      before === undefined ? { n: nextN, hash } : { n: before.n + 1, hash: before.hash }
    if (
      content.isBase
        ? prev === null && (index === 0 || n >= expected.n)
        : n === expected.n && prev === expected.hash
    )
      continue
    if (index > 0 || n !== nextN)
      throw segmentFault(`its segment ${n} does not follow the one before`)
    throw new SavestateError(
      'REMOTE_WENT_BACK',
      `Segment ${n} does not follow what is known of it here`,
      {
        hint: 'The remote was restored from an older copy.',
      },
    )
  }
  return fresh
}
