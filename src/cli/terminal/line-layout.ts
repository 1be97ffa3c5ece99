// Lines with a text at the left and details at the right edge, for a terminal of any width. The text gets at least half
// of a screen of 80 columns; details at the right are dropped first.
import type { Color } from './colors.js'
import type { Screen } from './screen.js'
import { cutEnd, widthOf } from './text-width.js'

export type Part = {
  readonly text: string
  /** Dropped before others. */
  readonly isLesser?: boolean
}

export type Line = {
  readonly indent: number
  /** In front of the text; cut last. */
  readonly mark: string
  readonly text: string
  readonly color?: Color | undefined
  readonly right: readonly Part[]
}

const SEPARATOR = ' · '
const GAP = 2
/** The least share of the text: with the number and the id before it, half of 80 columns. */
const TEXT_SHARE = 0.6
/** Without a terminal the right side starts at this column or earlier. */
const MAX_RIGHT_AT = 60

/** `margin`: the columns in front of each line. */
export function layoutLines(
  lines: readonly Line[],
  { screen, margin }: { readonly screen: Pick<Screen, 'width' | 'paint'>; readonly margin: number },
): string[] {
  const { paint } = screen
  const width = screen.width - margin
  const widest = Math.max(0, ...lines.map(neededWidth))
  return lines.map((line) => {
    const { mark, text, color } = line
    const indent = Math.min(line.indent, Math.max(0, width))
    const parts = dropParts(line.right, width - keptWidth(line, width))
    const rightWidth = parts.length === 0 ? 0 : partsWidth(parts) + GAP
    const textWidth = Math.max(0, width - rightWidth - indent)
    const shownMark = cutEnd(mark, textWidth)
    const shownText = cutEnd(text, textWidth - widthOf(shownMark))
    const body = color === undefined ? shownText : paint(color, shownText)
    const left = ' '.repeat(indent) + paint('cyan', shownMark) + body
    if (parts.length === 0) return left
    const rightAt = width === Infinity ? Math.min(MAX_RIGHT_AT, widest) : width - rightWidth
    const gap = rightAt + GAP - widthOf(left)
    const right = parts.map((part) => part.text).join(paint('dim', SEPARATOR))
    return left + ' '.repeat(Math.max(GAP, gap)) + right
  })
}

/** Drops lesser parts first, then the others from the left. */
function dropParts(parts: readonly Part[], width: number): readonly Part[] {
  if (parts.length === 0 || partsWidth(parts) + GAP <= width) return parts
  const lesser = parts.findIndex(({ isLesser }) => isLesser === true)
  return dropParts(parts.toSpliced(Math.max(0, lesser), 1), width)
}

/** Columns that the right side leaves to the text: its share or all it needs, and the mark in any case. */
function keptWidth(line: Line, width: number): number {
  if (width === Infinity) return 0
  const marked = line.indent + widthOf(line.mark)
  return Math.min(neededWidth(line), Math.max(Math.ceil(width * TEXT_SHARE), marked))
}

function neededWidth({ indent, mark, text }: Line): number {
  return indent + widthOf(mark) + widthOf(text)
}

function partsWidth(parts: readonly Part[]): number {
  return widthOf(parts.map(({ text }) => text).join(SEPARATOR))
}
