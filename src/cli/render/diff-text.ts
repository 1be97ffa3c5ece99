// A patch for a terminal or a file. Colors are added here, after escape sequences in the files were made visible: git's own
// colors could not be distinguished from these.
import type { DiffResult } from '../../index.js'
import { unseenByGit } from './change-lines.js'
import { formatNumber } from '../terminal/format-numbers.js'
import type { Color, Paint } from '../terminal/colors.js'
import { displayPath, printableLine, printableLines } from '../terminal/escape.js'
import type { Screen } from '../terminal/screen.js'
import { statText } from './diffstat.js'
import { padEnd, widthOf } from '../terminal/text-width.js'

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
  const shown = known.slice(0, MAX_AUTHORED)
  const width = Math.max(...shown.map(({ author }) => widthOf(printableLine(author ?? ''))))
  const more = known.length - shown.length
  return [
    paint('bold', 'Changed by'),
    ...shown.map(
      ({ author, path }) => `  ${padEnd(printableLine(author ?? ''), width)}  ${displayPath(path)}`,
    ),
    ...(more > 0 ? [`  … and ${formatNumber(more)} more`] : []),
  ]
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
