// Matches the lines of two versions of a file. Versions of one file differ in few lines. So this is Myers' algorithm on lines whose
// equal runs are found by comparing memory: neither version is split into lines where both are equal. Pure.
import { diffArrays } from 'diff'

/** A content and where its lines begin. `starts` has one entry more than there are lines: the length of the content. */
export type Lines = { readonly content: Buffer; readonly starts: Int32Array }

/** `count` lines are equal, from line `newer` of one version and line `older` of the other. */
export type EqualRun = { readonly newer: number; readonly older: number; readonly count: number }

export type Matched = { readonly older: Lines; readonly runs: readonly EqualRun[] }

const NEWLINE = 0x0a
/** Above this many different lines, comparing texts is faster: the time of Myers' algorithm grows with the square. */
const MAX_STEPS = 256
/** Versions that differ in more lines which both have somewhere count as rewritten. */
const MAX_MOVED = 4000

/** As in git, a line includes its newline, and a last line without one is a line. */
export function splitLines(content: Buffer): Lines {
  const starts: number[] = []
  for (let at = 0; at < content.length; at = endOfLine(content, at)) starts.push(at)
  return { content, starts: Int32Array.from([...starts, content.length]) }
}

export function countOf({ starts }: Lines): number {
  return starts.length - 1
}

export function matchLines(newer: Lines, content: Buffer): Matched {
  return matchByMemory(newer, content) ?? matchByText(newer, splitLines(content))
}

/** A furthest point: `x` lines of the newer version, and the bytes `at` of the older one, are done. NONE in `x`: no such point. */
type Points = { readonly x: Int32Array; readonly at: Int32Array }
const NONE = -1

/** Undefined if the versions differ in more than MAX_STEPS lines. */
function matchByMemory(newer: Lines, content: Buffer): Matched | undefined {
  const count = countOf(newer)
  const points: Points = { x: new Int32Array(SIZE).fill(NONE), at: new Int32Array(SIZE) }
  const trace: Points[] = []
  for (let step = 0; step <= MAX_STEPS; step += 1) {
    const [low, high] = [MIDDLE - step - 1, MIDDLE + step + 2]
    trace.push({ x: points.x.slice(low, high), at: points.at.slice(low, high) })
    for (let k = -step; k <= step; k += 2) {
      const move = nextMove(points, { k: MIDDLE + k, step, count, content })
      points.x[MIDDLE + k] = NONE
      if (move === undefined) continue
      const length = equalLines(newer, { x: move.x, content, at: move.at })
      const x = move.x + length
      const at = move.at + (newer.starts[x] ?? 0) - (newer.starts[move.x] ?? 0)
      points.x[MIDDLE + k] = x
      points.at[MIDDLE + k] = at
      if (x === count && at === content.length) return follow(newer, { content, trace, k, x })
    }
  }
  return undefined
}

const MIDDLE = MAX_STEPS + 1
const SIZE = 2 * MIDDLE + 1

type Move = { readonly x: number; readonly at: number; readonly isDown: boolean }

/** The move that leads further: over a line of the older version (down), or over one of the newer. `k` is an index of `points`. */
function nextMove(
  { x, at }: Points,
  {
    k,
    step,
    count,
    content,
  }: {
    readonly k: number
    readonly step: number
    readonly count: number
    readonly content: Buffer
  },
): Move | undefined {
  if (step === 0) return { x: 0, at: 0, isDown: false }
  const [above, left] = [x[k + 1] ?? NONE, x[k - 1] ?? NONE]
  const from = at[k + 1] ?? 0
  const down = above === NONE || from >= content.length ? NONE : above
  const right = left === NONE || left >= count ? NONE : left + 1
  if (down === NONE && right === NONE) return undefined
  return right > down
    ? { x: right, at: at[k - 1] ?? 0, isDown: false }
    : { x: down, at: endOfLine(content, from), isDown: true }
}

/** Repeats the moves backwards, then collects the runs and the lines of the older version in their order. */
function follow(
  newer: Lines,
  {
    content,
    trace,
    k: lastK,
    x: lastX,
  }: {
    readonly content: Buffer
    readonly trace: readonly Points[]
    readonly k: number
    readonly x: number
  },
): Matched {
  const moves: (Move & { readonly end: number; readonly from: number })[] = []
  let [k, end] = [lastK, lastX]
  const count = countOf(newer)
  for (let step = trace.length - 1; step >= 0; step -= 1) {
    const points = trace[step]
    const index = k + step + 1
    const move = points && nextMove(points, { k: index, step, count, content })
    if (points === undefined || move === undefined) throw new RangeError('lost the path')
    moves.push({ ...move, end, from: points.at[index + 1] ?? 0 })
    end = move.isDown ? move.x : move.x - 1
    k += move.isDown ? 1 : -1
  }
  const total = lastX - lastK
  const starts = new Int32Array(total + 1)
  const runs: EqualRun[] = []
  let older = 0
  for (const { x, at, isDown, end: next, from } of moves.reverse()) {
    if (isDown) starts[older++] = from
    if (next > x) runs.push({ newer: x, older, count: next - x })
    const shift = at - (newer.starts[x] ?? 0)
    for (let line = x; line < next; line += 1) starts[older++] = (newer.starts[line] ?? 0) + shift
  }
  starts[total] = content.length
  return { older: { content, starts }, runs }
}

/** How many lines are equal from line `x` of the newer version and byte `at` of the older one on. */
function equalLines(
  { content: one, starts }: Lines,
  { x, content: other, at }: { readonly x: number; readonly content: Buffer; readonly at: number },
): number {
  const from = starts[x] ?? 0
  const bytes = equalBytes({ one, from }, { other, at })
  const last = lastAtOrBefore(starts, { value: from + bytes, low: x })
  // A last line without a newline is equal only if the other version ends there, too.
  const isOpen = last > x && starts[last] === one.length && one[one.length - 1] !== NEWLINE
  return isOpen && at + one.length - from < other.length ? last - x - 1 : last - x
}

const STEPS = [16_384, 512, 32] as const

function equalBytes(
  { one, from }: { readonly one: Buffer; readonly from: number },
  { other, at }: { readonly other: Buffer; readonly at: number },
): number {
  const most = Math.min(one.length - from, other.length - at)
  let bytes = 0
  const isNextEqual = () => one[from + bytes] === other[at + bytes]
  // Most lines that differ do so early; a call of `compare` costs more than a few bytes.
  while (bytes < most && bytes < 32 && isNextEqual()) bytes += 1
  if (bytes < 32) return bytes
  for (const step of STEPS) {
    while (bytes + step <= most) {
      const [start, otherStart] = [from + bytes, at + bytes]
      if (one.compare(other, otherStart, otherStart + step, start, start + step) !== 0) break
      bytes += step
    }
  }
  while (bytes < most && isNextEqual()) bytes += 1
  return bytes
}

function endOfLine(content: Buffer, at: number): number {
  const end = content.indexOf(NEWLINE, at)
  return end === -1 ? content.length : end + 1
}

/** The index of the last entry, from `low` on, that is not above `value`. */
function lastAtOrBefore(
  sorted: Int32Array,
  { value, low: first }: { readonly value: number; readonly low: number },
): number {
  let [low, high] = [first, sorted.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((sorted[middle] ?? 0) <= value) low = middle
    else high = middle - 1
  }
  return low
}

function matchByText(newer: Lines, older: Lines): Matched {
  // Lines that only one version has cannot match. Leaving them out changes no result, and makes a rewritten file cheap.
  const [inNewer, inOlder] = [textsOf(newer), textsOf(older)]
  const one = numbersOf(inNewer, new Set(inOlder))
  const other = numbersOf(inOlder, new Set(inNewer))
  const changes = diffArrays(
    other.map((line) => inOlder[line]),
    one.map((line) => inNewer[line]),
    { maxEditLength: MAX_MOVED },
  )
  const runs: EqualRun[] = []
  let [at, atOther] = [0, 0]
  for (const { added, removed, count } of changes ?? []) {
    if (!added && !removed)
      for (let n = 0; n < count; n += 1)
        runs.push({ newer: one[at + n] ?? 0, older: other[atOther + n] ?? 0, count: 1 })
    if (!removed) at += count
    if (!added) atOther += count
  }
  return { older, runs }
}

function textsOf({ content, starts }: Lines): string[] {
  const texts: string[] = []
  for (let line = 0; line < starts.length - 1; line += 1)
    texts.push(content.latin1Slice(starts[line] ?? 0, starts[line + 1] ?? 0))
  return texts
}

function numbersOf(texts: readonly string[], others: ReadonlySet<string>): number[] {
  return texts.flatMap((text, line) => (others.has(text) ? [line] : []))
}
