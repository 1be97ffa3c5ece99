// The lines of a file with their origins in columns. Every line has all of them, so that the text can be searched.
import type { BlameLine } from '../../index.js'
import type { Color } from '../terminal/colors.js'
import { printableLine, printableLines } from '../terminal/escape.js'
import { relativeTime } from '../terminal/relative-time.js'
import type { Screen } from '../terminal/screen.js'
import { idWidth, paintId } from '../terminal/short-id.js'
import { cutEnd, padEnd, padStart, widthOf } from '../terminal/text-width.js'

const AUTHOR_WIDTH = 16
const PROMPT_WIDTH = 32
const TOOL_WIDTH = 24
/** A narrower terminal shows no tool calls. */
const TOOLS_FROM = 120
/** A narrower one shows no prompts and no ages either. */
const PROMPTS_FROM = 80
const COMMIT_LETTERS = 8

type Style = {
  readonly screen: Pick<Screen, 'width' | 'now' | 'paint'>
  readonly shortIds: ReadonlyMap<string, string>
}

export function blameText(lines: readonly BlameLine[], style: Style): string {
  const { screen } = style
  const columns = [
    idColumn(lines, style),
    textColumn(lines, { text: ({ author }) => author, width: AUTHOR_WIDTH, screen }),
    ...(screen.width < PROMPTS_FROM
      ? []
      : [
          textColumn(lines, { text: ageIn(screen.now), width: Infinity, color: 'dim', screen }),
          textColumn(lines, { text: ({ prompt }) => prompt, width: PROMPT_WIDTH, screen }),
        ]),
    ...(screen.width < TOOLS_FROM
      ? []
      : [textColumn(lines, { text: ({ tool }) => tool, width: TOOL_WIDTH, color: 'dim', screen })]),
  ].filter((column) => column !== undefined)
  const digits = String(lines.at(-1)?.number ?? 0).length
  return lines
    .map((line, at) => {
      const number = screen.paint('dim', padStart(String(line.number), digits))
      const cells = [...columns.map((column) => column(at)), number]
      return `${cells.join('  ')}  ${printableLines(line.text)}`.trimEnd()
    })
    .join('\n')
}

type Column = (at: number) => string

function idColumn(lines: readonly BlameLine[], { screen: { paint }, shortIds }: Style): Column {
  const letters = Math.max(1, ...[...shortIds.values()].map((id) => id.length))
  const hasCommits = lines.some(({ commit }) => commit !== null)
  const width = Math.max(idWidth(letters, paint), hasCommits ? COMMIT_LETTERS : 'older'.length)
  const cellOf = ({ source, checkpoint: id, commit }: BlameLine) => {
    if (id !== null) return paintId({ id, shortId: shortIds.get(id) ?? id }, paint)
    if (commit !== null) return paint('dim', commit.slice(0, COMMIT_LETTERS))
    return source === 'folder' ? paint('green', 'now') : paint('dim', 'older')
  }
  return (at) => {
    const line = lines[at]
    return line === undefined ? '' : padEnd(cellOf(line), width)
  }
}

/** Undefined if all cells are empty. */
function textColumn(
  lines: readonly BlameLine[],
  {
    text,
    width,
    color,
    screen,
  }: {
    readonly text: (line: BlameLine) => string | null
    readonly width: number
    readonly color?: Color
    readonly screen: Pick<Screen, 'paint'>
  },
): Column | undefined {
  // Many lines have the same origin.
  const shown = new Map<string, string>()
  const cells = lines.map((line) => {
    const given = text(line) ?? ''
    const known = shown.get(given) ?? cutEnd(printableLine(given), width)
    shown.set(given, known)
    return known
  })
  const widest = [...shown.values()].reduce((most, cell) => Math.max(most, widthOf(cell)), 0)
  if (widest === 0) return undefined
  return (at) => {
    const cell = padEnd(cells[at] ?? '', widest)
    return color === undefined ? cell : screen.paint(color, cell)
  }
}

function ageIn(now: Date): (line: BlameLine) => string | null {
  return ({ createdAt }) => (createdAt === null ? null : relativeTime(createdAt, now))
}
