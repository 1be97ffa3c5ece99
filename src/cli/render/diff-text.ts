// A patch or a diffstat for a terminal or a file. Colors are added here, after escape sequences in the files were made visible: git's own
// colors could not be distinguished from these.
import type { DiffResult } from '../../index.js'
import { unseenByGit } from './change-lines.js'
import { limitLines } from '../terminal/format-numbers.js'
import type { Color, Paint } from '../terminal/colors.js'
import { displayPath, printableLine, printableLines } from '../terminal/escape.js'
import type { Screen } from '../terminal/screen.js'
import { cutStart, padEnd, padStart, widthOf } from '../terminal/text-width.js'

export function diffText(
  { changes, patch }: DiffResult,
  { screen, isStat }: { readonly screen: Screen; readonly isStat: boolean },
): string {
  if (changes.length === 0) return 'No differences.'
  const { paint } = screen
  const authors = authorLines(changes, paint)
  const unseen = unseenByGit(changes).map((line) => paint('yellow', line))
  // A patch in a pipe may be meant for `git apply`, so it stays unchanged.
  const shown = screen.isTerminal || isStat ? printableLines(patch ?? '') : (patch ?? '')
  const painted = isStat
    ? statText(shown, { width: statWidth(screen), paint })
    : paintPatch(shown, paint)
  return [...authors, ...unseen, painted].filter((part) => part !== '').join('\n')
}

const WIDTH_WITHOUT_TERMINAL = 80

/** Without a terminal the width of the screen is Infinity. */
export function statWidth({ width }: Screen): number {
  return width >= 1000 ? WIDTH_WITHOUT_TERMINAL : width
}

const MAX_AUTHORED = 50

/** The author of each file, if there are several. `git apply` ignores these lines before the patch. */
function authorLines(changes: DiffResult['changes'], paint: Paint): string[] {
  const known = changes.filter(({ type, author }) => type !== 'folder' && author !== null)
  const names = new Set(known.map(({ author }) => author))
  if (names.size < 2) return []
  const authors = known.map(({ author }) => printableLine(author ?? ''))
  const width = Math.max(...authors.slice(0, MAX_AUTHORED).map(widthOf))
  const lines = known.map(
    ({ path }, at) => `  ${padEnd(authors[at] ?? '', width)}  ${displayPath(path)}`,
  )
  return [paint('bold', 'Changed by'), ...limitLines(lines, MAX_AUTHORED)]
}

const LINE_COLORS: readonly (readonly [start: RegExp, Color])[] = [
  [/^@@/, 'cyan'],
  [/^\+/, 'green'],
  [/^-/, 'red'],
]

/** In a hunk only the first character of a line counts: a removed line `-- x` is not a header. */
export function paintPatch(patch: string, paint: Paint): string {
  let isHeader = true
  return patch
    .split('\n')
    .map((line) => {
      if (line.startsWith('diff --git ')) isHeader = true
      if (line.startsWith('@@')) isHeader = false
      if (isHeader) return paint('bold', line)
      const color = LINE_COLORS.find(([start]) => start.test(line))?.[1]
      return color === undefined ? line : paint(color, line)
    })
    .join('\n')
}

/** The width for git, so that it cuts nothing. */
export const UNCUT_WIDTH = 10_000

const LEAST_NAME = 8
const LEAST_GRAPH = 6
/** The spaces and the bar around name and number, and one free column. */
const FRAME = 6

/**
 * How much changed in each file. `figures` is git's output with the width above, with unsafe characters escaped. The numbers are
 * git's, the layout is ours: git cuts names by bytes, also inside a character, and does not know our escapes.
 */
export function statText(
  figures: string,
  { width, paint }: { readonly width: number; readonly paint: Paint },
): string {
  const lines = figures.split('\n').map((line) => rowIn(line) ?? line)
  const rows = lines.filter((line) => typeof line !== 'string')
  const most = (numbers: readonly number[]) => numbers.reduce((a, b) => Math.max(a, b), 0)
  const numberWidth = most(rows.map(({ number }) => number.length))
  const names = most(rows.map(({ name }) => widthOf(name)))
  const changes = most(rows.map(({ plus, minus }) => plus + minus))
  const room = width - FRAME - numberWidth
  // As in git: long names leave three eighths of the width to the rest.
  const least = Math.max(LEAST_GRAPH, Math.floor((width * 3) / 8) - FRAME - numberWidth)
  const nameWidth = Math.min(names, Math.max(LEAST_NAME, room - Math.min(changes, least)))
  const graph = { width: Math.max(LEAST_GRAPH, room - nameWidth), changes }
  return lines
    .map((line) => {
      if (typeof line === 'string') return line
      const [plus, minus] = scaleBar(line, graph)
      const name = padEnd(cutStart(line.name, nameWidth), nameWidth)
      const signs = paint('green', '+'.repeat(plus)) + paint('red', '-'.repeat(minus))
      return ` ${name} | ${padStart(line.number, numberWidth)} ${line.note}${signs}`.trimEnd()
    })
    .join('\n')
}

type Row = {
  readonly name: string
  /** Or `Bin`. */
  readonly number: string
  /** The sizes of a binary file. */
  readonly note: string
  readonly plus: number
  readonly minus: number
}

function rowIn(line: string): Row | undefined {
  const [, name, number, rest = ''] = /^ (.*) \| +(\d+|Bin)(?: (.*))?$/.exec(line) ?? []
  if (name === undefined || number === undefined) return undefined
  const [signs, note] = number === 'Bin' ? ['', rest] : [rest, '']
  const plus = signs.lastIndexOf('+') + 1
  return { name: name.trimEnd(), number, note, plus, minus: signs.length - plus }
}

/** Every addition and deletion keeps at least one sign. */
function scaleBar(
  { plus, minus }: Row,
  graph: { readonly width: number; readonly changes: number },
): [plus: number, minus: number] {
  if (graph.changes <= graph.width) return [plus, minus]
  const scale = (count: number) =>
    count === 0 ? 0 : 1 + Math.floor((count * (graph.width - 1)) / graph.changes)
  const total = Math.max(scale(plus + minus), plus > 0 && minus > 0 ? 2 : 0)
  if (plus < minus) return [scale(plus), total - scale(plus)]
  return [total - scale(minus), scale(minus)]
}
