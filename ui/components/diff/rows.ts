// Turns the hunks of a patch into rows of one height: unified, or split into an old and a new side.

export type Hunk = {
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly heading: string
  /** Each begins with ' ', '+', '-' or '\'. */
  readonly lines: readonly string[]
}

export type LineKind = 'context' | 'added' | 'removed'

export type Line = {
  readonly kind: LineKind
  readonly text: string
  readonly oldNumber: number | undefined
  readonly newNumber: number | undefined
  /** The index of the line in the text of its side: old for removed lines, new for all others. */
  readonly index: number
  /** The removed or added line that this one replaces or is replaced by. */
  pair: Line | undefined
  /** The file ends with this line and has no newline after it. */
  hasNoNewline: boolean
}

export type HunkHead = {
  readonly index: number
  readonly heading: string
  readonly range: string
  /** Unchanged lines between this hunk and the one before it, or the start of the file. */
  readonly hidden: number
}

export type Row =
  | { readonly type: 'hunk'; readonly head: HunkHead }
  | { readonly type: 'line'; readonly line: Line }
  /** For a split view. A side is undefined if it has no line here. */
  | { readonly type: 'pair'; readonly left: Line | undefined; readonly right: Line | undefined }
  | { readonly type: 'no-newline'; readonly line: Line }

export type Patch = {
  readonly hunks: readonly { readonly head: HunkHead; readonly lines: readonly Line[] }[]
  /** The lines of each side, for the highlighter. */
  readonly oldText: string
  readonly newText: string
  /** Every line ends with a carriage return, so the view does not show them. */
  readonly isCrlf: boolean
  /** In characters; a tab counts as four. */
  readonly longestLine: number
}

const TAB_COLUMNS = 4

export function readPatch(hunks: readonly Hunk[]): Patch {
  const oldLines: string[] = []
  const newLines: string[] = []
  let oldEnd = 1
  const isCrlf = endsWithCarriageReturns(hunks)
  const read = hunks.map((hunk, index) => {
    const range = `@@ −${hunk.oldStart},${hunk.oldLines} +${hunk.newStart},${hunk.newLines} @@`
    const hidden = Math.max(0, hunk.oldStart - oldEnd)
    oldEnd = hunk.oldStart + hunk.oldLines
    const lines = readLines(hunk, { oldLines, newLines, isCrlf })
    return { head: { index, heading: hunk.heading, range, hidden }, lines }
  })
  let longestLine = 0
  for (const text of oldLines) longestLine = Math.max(longestLine, columnsOf(text))
  for (const text of newLines) longestLine = Math.max(longestLine, columnsOf(text))
  return {
    hunks: read,
    oldText: oldLines.join('\n'),
    newText: newLines.join('\n'),
    isCrlf,
    longestLine,
  }
}

function readLines(
  hunk: Hunk,
  sides: { readonly oldLines: string[]; readonly newLines: string[]; readonly isCrlf: boolean },
): readonly Line[] {
  const { oldLines, newLines, isCrlf } = sides
  let [oldNumber, newNumber] = [hunk.oldStart, hunk.newStart]
  const lines: Line[] = []
  for (const signed of hunk.lines) {
    const sign = signed[0]
    if (sign === '\\') {
      const last = lines.at(-1)
      if (last !== undefined) last.hasNoNewline = true
      continue
    }
    const text = signed.slice(1, isCrlf && signed.endsWith('\r') ? -1 : undefined)
    const isOld = sign !== '+'
    const isNew = sign !== '-'
    if (isOld) oldLines.push(text)
    if (isNew) newLines.push(text)
    lines.push({
      kind: sign === '+' ? 'added' : sign === '-' ? 'removed' : 'context',
      text,
      oldNumber: isOld ? oldNumber : undefined,
      newNumber: isNew ? newNumber : undefined,
      index: (isNew ? newLines : oldLines).length - 1,
      pair: undefined,
      hasNoNewline: false,
    })
    if (isOld) oldNumber += 1
    if (isNew) newNumber += 1
  }
  for (const { removed, added } of runsOf(lines))
    for (const [index, line] of removed.entries()) {
      const other = added[index]
      if (other === undefined) break
      line.pair = other
      other.pair = line
    }
  return lines
}

type Run = {
  readonly context: readonly Line[]
  readonly removed: readonly Line[]
  readonly added: readonly Line[]
}

/** Unchanged lines, then removed lines, then the lines that replace them. */
function runsOf(lines: readonly Line[]): readonly Run[] {
  const runs: Run[] = []
  let at = 0
  const take = (kind: LineKind): readonly Line[] => {
    const first = at
    while (lines[at]?.kind === kind) at += 1
    return lines.slice(first, at)
  }
  while (at < lines.length)
    runs.push({ context: take('context'), removed: take('removed'), added: take('added') })
  return runs
}

export function unifiedRows({ hunks }: Patch): readonly Row[] {
  const rows: Row[] = []
  for (const { head, lines } of hunks) {
    rows.push({ type: 'hunk', head })
    for (const line of lines) {
      rows.push({ type: 'line', line })
      if (line.hasNoNewline) rows.push({ type: 'no-newline', line })
    }
  }
  return rows
}

export function splitRows({ hunks }: Patch): readonly Row[] {
  const rows: Row[] = []
  for (const { head, lines } of hunks) {
    rows.push({ type: 'hunk', head })
    for (const { context, removed, added } of runsOf(lines)) {
      for (const line of context) pushPair(rows, line, line)
      const length = Math.max(removed.length, added.length)
      for (let index = 0; index < length; index += 1) pushPair(rows, removed[index], added[index])
    }
  }
  return rows
}

function pushPair(rows: Row[], left: Line | undefined, right: Line | undefined): void {
  rows.push({ type: 'pair', left, right })
  for (const line of new Set([left, right]))
    if (line?.hasNoNewline === true) rows.push({ type: 'no-newline', line })
}

/** The rows where a change begins that is not close to the one before it. */
export function changeStarts(rows: readonly Row[]): readonly number[] {
  const starts: number[] = []
  let unchanged = Number.POSITIVE_INFINITY
  for (const [index, row] of rows.entries())
    if (row.type === 'hunk') unchanged = Number.POSITIVE_INFINITY
    else if (isUnchanged(row)) unchanged += 1
    else {
      if (unchanged > CLOSE) starts.push(index)
      unchanged = 0
    }
  return starts
}
// As many as two changes in one hunk of git can have between them.
const CLOSE = 6

function isUnchanged(row: Row): boolean {
  if (row.type === 'line') return row.line.kind === 'context'
  return row.type === 'pair' ? row.left === row.right : true
}

/** A row that shows the line of this number, for keeping the position when the rows change. */
export function findRow(rows: readonly Row[], line: Line): number {
  return rows.findIndex((row) => {
    const [one, other] = linesOf(row)
    return [one, other].some((shown) => shown !== undefined && isSameLine(shown, line))
  })
}

export function linesOf(row: Row | undefined): readonly [Line | undefined, Line | undefined] {
  if (row?.type === 'line') return [row.line, undefined]
  return row?.type === 'pair' ? [row.left, row.right] : [undefined, undefined]
}

function isSameLine(one: Line, other: Line): boolean {
  return one.oldNumber === other.oldNumber && one.newNumber === other.newNumber
}

function endsWithCarriageReturns(hunks: readonly Hunk[]): boolean {
  let isKnown = false
  for (const { lines } of hunks)
    for (const line of lines) {
      if (line.startsWith('\\')) continue
      if (!line.endsWith('\r')) return false
      isKnown = true
    }
  return isKnown
}

function columnsOf(text: string): number {
  let columns = text.length
  for (let at = text.indexOf('\t'); at >= 0; at = text.indexOf('\t', at + 1))
    columns += TAB_COLUMNS - 1
  return columns
}

/** `hasChoice`: every hunk needs its head. */
export function rowsOf(
  patch: Patch,
  { isSplit, hasChoice }: { readonly isSplit: boolean; readonly hasChoice: boolean },
): readonly Row[] {
  const rows = isSplit ? splitRows(patch) : unifiedRows(patch)
  // The first row of a file is the head of its only hunk.
  const [first] = rows
  const hasHead = first?.type === 'hunk' && (first.head.hidden > 0 || first.head.heading !== '')
  return hasHead || hasChoice ? rows : rows.slice(1)
}
