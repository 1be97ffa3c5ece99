// Compaction: one base in place of all segments of a log, without what removed rows alone needed.
import { checkNumbers, type NumberTable } from './check-numbers.js'
import { foldRows } from './fold-rows.js'
import type { LogKind, LogSize } from './log.js'
import { parseSegment } from './parse-segment.js'
import {
  checkpointRows,
  type LogNumber,
  type SegmentContent,
  SHARED_TABLES,
  type SharedRow,
  type SharedTable,
} from './segment.js'
import { referencesOf } from './state-root.js'

/** A log with no more segments is not worth it, unless nothing is left of it. */
const MIN_SEGMENTS = 200
const BYTES_PER_CHILD = 4

/**
 * `contents` are all segments of a log, in order. The base has the same rows, and what they need, under the same numbers. Throws
 * BAD_INPUT for segments that are not valid.
 */
export function compactSegments(
  contents: readonly SegmentContent[],
  { kind }: { readonly kind: LogKind },
): SegmentContent {
  let numbers: NumberTable = new Map()
  for (const content of contents) {
    parseSegment(content, kind)
    if (content.isBase) numbers = new Map()
    checkNumbers(content, numbers)
  }
  const lastBase = contents.findLastIndex(({ isBase }) => isBase)
  const used = contents.slice(Math.max(lastBase, 0))
  const folded = foldRows(used).rows
  const rows: Partial<Record<SharedTable, readonly SharedRow[]>> = {}
  for (const table of SHARED_TABLES)
    if (folded[table].size > 0) rows[table] = [...folded[table].values()]
  const live = reachableNumbers(used, rows)
  const isLive = ([number]: readonly [LogNumber, ...unknown[]]) => live.has(number)
  return {
    version: 1,
    isBase: true,
    // Not `Math.max(...)`: another host decides how many there are, and arguments have a limit.
    nextNumber: contents.reduce((next, content) => Math.max(next, content.nextNumber), 1),
    elements: used.flatMap(({ elements }) => elements.filter(isLive)),
    // A child was brought before its parent, and that order stays.
    nodes: used.flatMap(({ nodes }) => nodes.filter(isLive)),
    states: used.flatMap(({ states }) => states.filter(isLive)),
    rows,
    removed: {},
  }
}

/**
 * Whether a log may be worth compacting, without reading it: it is long and most of its checkpoints were removed, or all were. `steps`
 * is that of its card: all steps that a session ever had, or the checkpoints that a thread has.
 */
export function mayBeWorthCompacting(
  { kind, segments, checkpoints }: LogSize & { readonly kind: LogKind },
  { steps }: { readonly steps: number },
): boolean {
  // A thread has at least one segment for each checkpoint that it ever had.
  const [kept, ever] = kind === 'session' ? [checkpoints, steps] : [steps, segments]
  if (segments < 2 || ever === 0) return false
  return kept === 0 || (segments > MIN_SEGMENTS && kept * 2 < ever)
}

/** Whether less than half of a long log is needed, or no checkpoint is left. */
export function isWorthCompacting(
  contents: readonly SegmentContent[],
  compacted: SegmentContent,
): boolean {
  if (contents.length < 2) return false
  const { graph_checkpoints: ofThread = [] } = compacted.rows
  if (checkpointRows(compacted.rows).length + ofThread.length === 0) return true
  if (contents.length <= MIN_SEGMENTS) return false
  const before = contents.reduce((sum, content) => sum + estimateBytes(content), 0)
  return estimateBytes(compacted) < before / 2
}

function reachableNumbers(
  contents: readonly SegmentContent[],
  rows: SegmentContent['rows'],
): ReadonlySet<LogNumber> {
  const roots = new Map(contents.flatMap(({ states }) => states))
  const nodes = new Map(contents.flatMap(({ nodes }) => nodes))
  const live = new Set<LogNumber>()
  const mark = (numbers: readonly LogNumber[]) => {
    for (const number of numbers) {
      if (live.has(number)) continue
      live.add(number)
      // As deep as the highest tree, which has few levels.
      mark(nodes.get(number) ?? [])
    }
  }
  for (const row of [...checkpointRows(rows), ...(rows.graph_checkpoints ?? [])]) {
    const { state, details } = row
    if (typeof details === 'number') mark([details])
    if (typeof state !== 'number' || live.has(state)) continue
    live.add(state)
    mark(referencesOf(roots.get(state)).map(({ id }) => id))
  }
  return live
}

function estimateBytes({ elements, nodes, states, rows }: SegmentContent): number {
  let bytes = 0
  for (const [, , text] of elements) bytes += text.length
  for (const [, children] of nodes) bytes += children.length * BYTES_PER_CHILD
  for (const [, root] of states) bytes += JSON.stringify(root).length
  for (const table of SHARED_TABLES)
    for (const row of rows[table] ?? [])
      for (const value of Object.values(row)) bytes += String(value ?? '').length + 1
  return bytes
}
