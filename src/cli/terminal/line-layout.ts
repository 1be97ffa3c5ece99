// Lines with a text at the left and facts at the right edge, for a terminal of any width. The text gets at least half of
// a screen of 80 columns; the facts at the right give way first.
import type { Colour } from './colors.js'
import type { Screen } from './screen.js'
import { cutEnd, widthOf } from './text-width.js'

export type Part = {
  readonly text: string
  readonly painted: string
  /** Gives way before others do. */
  readonly isLesser: boolean
}

export type Line = {
  readonly indent: number
  /** In front of the text; cut only where nothing else is left to cut. */
  readonly mark: string
  readonly text: string
  readonly colour?: Colour | undefined
  readonly right: readonly Part[]
}

type LineScreen = Pick<Screen, 'width' | 'paint'>

type Fit = {
  /** Columns for the text and the right side. */
  readonly room: number
  /** The column at which the right side begins; undefined if it ends at the edge of the screen. */
  readonly rightAt: number | undefined
  readonly screen: LineScreen
}

const SEPARATOR = ' · '
const GAP = 2
/** The least width of the text: with the number and the id before it, half of 80 columns. */
const TEXT_SHARE = 0.6
/** Without a terminal the right side begins behind texts of at most so many columns. */
const MAX_RIGHT_AT = 60

/** `margin`: the columns in front of each line. */
export function layoutLines(
  lines: readonly Line[],
  { screen, margin }: { readonly screen: LineScreen; readonly margin: number },
): string[] {
  const isEndless = !Number.isFinite(screen.width)
  const widest = Math.max(0, ...lines.map(neededWidth))
  const fit = {
    room: screen.width - margin,
    rightAt: isEndless ? Math.min(MAX_RIGHT_AT, widest) : undefined,
    screen,
  }
  return lines.map((line) => layoutLine(line, fit))
}

function layoutLine(line: Line, { room, rightAt, screen }: Fit): string {
  const { mark, text, colour } = line
  const indent = Math.min(line.indent, Math.max(0, room))
  const { paint } = screen
  const parts = fittingParts(line.right, room - keptWidth(line, room))
  const rightWidth = parts.length === 0 ? 0 : partsWidth(parts) + GAP
  const textRoom = Math.max(0, room - rightWidth - indent)
  const shownMark = cutEnd(mark, textRoom)
  const shownText = cutEnd(text, textRoom - widthOf(shownMark))
  const body = colour === undefined ? shownText : paint(colour, shownText)
  const left = ' '.repeat(indent) + paint('cyan', shownMark) + body
  if (parts.length === 0) return left
  const used = indent + widthOf(shownMark) + widthOf(shownText)
  const gap = (rightAt ?? room - rightWidth) + GAP - used
  const right = parts.map(({ painted }) => painted).join(paint('dim', SEPARATOR))
  return left + ' '.repeat(Math.max(GAP, gap)) + right
}

/** Lesser parts give way first, then the others from the left. */
function fittingParts(parts: readonly Part[], room: number): readonly Part[] {
  if (parts.length === 0 || partsWidth(parts) + GAP <= room) return parts
  const at = Math.max(
    0,
    parts.findIndex(({ isLesser }) => isLesser),
  )
  return fittingParts(
    parts.filter((_, index) => index !== at),
    room,
  )
}

/** Columns that the right side leaves to a line: the share of the text, or all it needs; the mark in any case. */
function keptWidth(line: Line, room: number): number {
  if (room === Infinity) return 0
  const needed = neededWidth(line)
  const marked = line.indent + widthOf(line.mark)
  return Math.min(needed, Math.max(Math.ceil(room * TEXT_SHARE), marked))
}

function neededWidth({ indent, mark, text }: Line): number {
  return indent + widthOf(mark) + widthOf(text)
}

function partsWidth(parts: readonly Part[]): number {
  return widthOf(parts.map(({ text }) => text).join(SEPARATOR))
}
