// How much changed in each file. The numbers are git's, the layout is ours: git cuts names by bytes, also inside a
// character, and does not know our escapes for unsafe characters.
import type { Paint } from '../terminal/colors.js'
import { cutStart, padEnd, padStart, widthOf } from '../terminal/text-width.js'

/** The width for git, so that it cuts nothing. */
export const UNCUT_WIDTH = 10_000

const LEAST_NAME = 8
const LEAST_GRAPH = 6
/** The spaces and the bar around name and number, and one free column. */
const FRAME = 6

/** `figures` is git's output with the width above, with unsafe characters escaped. */
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
