// Matches the lines of two versions of a file. Versions of one file differ in few lines, so the equal bytes at both ends are found
// by comparing memory, and only the rest is split into lines and compared. Pure.
import { diffArrays } from 'diff'

/** A content and where its lines begin. `starts` has one entry more than there are lines: the length of the content. */
export type Lines = { readonly content: Buffer; readonly starts: Uint32Array }

export type Matched = {
  readonly older: Lines
  /** This many lines at the start are equal in both versions, and this many at the end. */
  readonly equalStart: number
  readonly equalEnd: number
  /** The other equal lines, as numbers of the newer version and of the older one. */
  readonly pairs: readonly (readonly [newer: number, older: number])[]
}

const NEWLINE = 0x0a
const COMPARED_BYTES = 4096
/** Versions that differ in more lines between the equal ends count as rewritten there: the time grows with the square. */
const MAX_DIFFERENT = 5000

/** As in git, a line includes its newline, and a last line without one is a line. */
export function splitLines(content: Buffer): Lines {
  return {
    content,
    starts: Uint32Array.from([...startsIn(content, 0, content.length), content.length]),
  }
}

export function countOf({ starts }: Lines): number {
  return starts.length - 1
}

export function matchLines(newer: Lines, content: Buffer): Matched {
  const count = countOf(newer)
  const equalStart = equalLinesAtStart(newer, content)
  const from = newer.starts[equalStart] ?? 0
  const firstOfEnd = firstEqualLineAtEnd(newer, { content, equalStart })
  const shift = content.length - newer.content.length
  const to = (newer.starts[firstOfEnd] ?? 0) + shift
  const between = startsIn(content, from, to)
  const starts = new Uint32Array(equalStart + between.length + newer.starts.length - firstOfEnd)
  starts.set(newer.starts.subarray(0, equalStart))
  starts.set(between, equalStart)
  let at = equalStart + between.length
  for (const start of newer.starts.subarray(firstOfEnd)) starts[at++] = start + shift
  const older = { content, starts }
  const pairs = pairsBetween(
    { lines: newer, from: equalStart, to: firstOfEnd },
    { lines: older, from: equalStart, to: equalStart + between.length },
  )
  return { older, equalStart, equalEnd: count - firstOfEnd, pairs }
}

/** The starts of the lines in a range of bytes that begins with one and ends with one. */
function startsIn(content: Buffer, from: number, to: number): number[] {
  const starts: number[] = []
  for (let at = from; at < to; ) {
    starts.push(at)
    const end = content.indexOf(NEWLINE, at)
    at = end === -1 ? to : end + 1
  }
  return starts
}

function equalLinesAtStart({ content: one, starts }: Lines, other: Buffer): number {
  const most = Math.min(one.length, other.length)
  const isEqual = (at: number) =>
    one.compare(other, at, at + COMPARED_BYTES, at, at + COMPARED_BYTES) === 0
  let bytes = 0
  while (bytes + COMPARED_BYTES <= most && isEqual(bytes)) bytes += COMPARED_BYTES
  while (bytes < most && one[bytes] === other[bytes]) bytes += 1
  const lines = lastAtOrBefore(starts, bytes)
  // A last line without a newline is equal only if the other version ends there, too.
  const isOpen = lines > 0 && starts[lines] === bytes && one[bytes - 1] !== NEWLINE
  return isOpen && other.length > bytes ? lines - 1 : lines
}

/** The first line of the newer version from which on both are equal. */
function firstEqualLineAtEnd(
  { content: one, starts }: Lines,
  { content: other, equalStart }: { readonly content: Buffer; readonly equalStart: number },
): number {
  const used = starts[equalStart] ?? 0
  const most = Math.min(one.length, other.length) - used
  const shift = other.length - one.length
  const isEqual = (bytes: number) => {
    const [end, otherEnd] = [one.length - bytes, other.length - bytes]
    const [start, otherStart] = [end - COMPARED_BYTES, otherEnd - COMPARED_BYTES]
    return one.compare(other, otherStart, otherEnd, start, end) === 0
  }
  let bytes = 0
  while (bytes + COMPARED_BYTES <= most && isEqual(bytes)) bytes += COMPARED_BYTES
  while (bytes < most && one[one.length - 1 - bytes] === other[other.length - 1 - bytes]) bytes += 1
  if (bytes === 0) return starts.length - 1
  const line = lastAtOrBefore(starts, one.length - bytes)
  const start = starts[line] ?? 0
  const isStartOfLine = (at: number) => at === 0 || other[at - 1] === NEWLINE
  return start === one.length - bytes && isStartOfLine(start + shift) ? line : line + 1
}

/** The number of the last entry that is not above `value`. The first entry is 0 or the only one. */
function lastAtOrBefore(sorted: Uint32Array, value: number): number {
  let [low, high] = [0, sorted.length - 1]
  while (low < high) {
    const middle = (low + high + 1) >>> 1
    if ((sorted[middle] ?? 0) <= value) low = middle
    else high = middle - 1
  }
  return low
}

type Range = { readonly lines: Lines; readonly from: number; readonly to: number }

function pairsBetween(newer: Range, older: Range): Matched['pairs'] {
  if (newer.from === newer.to || older.from === older.to) return []
  // Lines that only one version has cannot match. Leaving them out changes no result, and makes a rewritten file cheap.
  const [inNewer, inOlder] = [textsIn(newer), textsIn(older)]
  const one = numbersOf(inNewer, new Set(inOlder))
  const other = numbersOf(inOlder, new Set(inNewer))
  const changes = diffArrays(
    other.map((line) => inOlder[line]),
    one.map((line) => inNewer[line]),
    { maxEditLength: MAX_DIFFERENT },
  )
  const pairs: [number, number][] = []
  let [at, atOther] = [0, 0]
  for (const { added, removed, count } of changes ?? []) {
    if (!added && !removed)
      for (let n = 0; n < count; n += 1)
        pairs.push([newer.from + (one[at + n] ?? 0), older.from + (other[atOther + n] ?? 0)])
    if (!removed) at += count
    if (!added) atOther += count
  }
  return pairs
}

function textsIn({ lines: { content, starts }, from, to }: Range): string[] {
  const texts: string[] = []
  for (let line = from; line < to; line += 1)
    texts.push(content.latin1Slice(starts[line] ?? 0, starts[line + 1] ?? 0))
  return texts
}

function numbersOf(texts: readonly string[], others: ReadonlySet<string>): number[] {
  return texts.flatMap((text, line) => (others.has(text) ? [line] : []))
}
