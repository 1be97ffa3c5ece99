// How many lines of the screen each row takes when long lines are wrapped. All characters have one width, or two, so that the heights
// are computed and nothing is measured. Pure.
import { visibleText } from '../format.js'
import { linesOf, type Row } from './rows.js'
import { MAX_SHOWN } from './segments.js'

const TAB_COLUMNS = 4
/** Room for the remark after a line that is cut. */
const CUT_COLUMNS = 40
/** East Asian characters and symbols that fonts draw over two columns. */
const WIDE =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{1f000}-\u{1faff}\u{20000}-\u{3fffd}]/u

/** The top of each row, and of the end, in lines of the screen. `columns`: of the text; undefined: nothing is wrapped. */
export function rowTops(rows: readonly Row[], columns: number | undefined): Float64Array {
  const tops = new Float64Array(rows.length + 1)
  let top = 0
  for (const [index, row] of rows.entries()) {
    tops[index] = top
    top += columns === undefined ? 1 : screenLinesOf(row, columns)
  }
  tops[rows.length] = top
  return tops
}

function screenLinesOf(row: Row, columns: number): number {
  const counts = linesOf(row).map((line) =>
    line === undefined ? 1 : screenLines(line.text, columns),
  )
  return Math.max(...counts)
}

/** As `white-space: break-spaces` and `word-break: break-all` break it: at any character, and blanks have their width. */
export function screenLines(text: string, columns: number): number {
  const isCut = text.length > MAX_SHOWN
  const shown = isCut ? text.slice(0, MAX_SHOWN) : text
  const plain = visibleText(shown)
  if (!plain.includes('\t') && !WIDE.test(plain))
    return Math.max(1, Math.ceil((plain.length + (isCut ? CUT_COLUMNS : 0)) / columns))
  let [lines, column] = [1, 0]
  for (const character of plain) {
    let width = widthOf(character, column)
    if (column + width > columns && column > 0) {
      lines += 1
      width = widthOf(character, 0)
      column = 0
    }
    column += width
  }
  return isCut ? lines + Math.ceil(CUT_COLUMNS / columns) : lines
}

function widthOf(character: string, column: number): number {
  if (character === '\t') return TAB_COLUMNS - (column % TAB_COLUMNS)
  return WIDE.test(character) ? 2 : 1
}

/** The row at this line of the screen. */
export function rowAt(tops: Float64Array, line: number): number {
  let [low, high] = [0, Math.max(0, tops.length - 2)]
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if ((tops[middle] ?? 0) <= line) low = middle
    else high = middle - 1
  }
  return low
}
