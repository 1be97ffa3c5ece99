// A patch for a terminal, or for a file. On a terminal nothing in it may act, so the colours are put on
// here: those of git could not be told from escape sequences in the files.
import type { DiffResult } from '../../index.js'
import { unseenByGit } from './change-lines.js'
import { grouped } from '../terminal/format-numbers.js'
import type { Colour, Paint } from '../terminal/colors.js'
import { pathForPeople, printableLine, printableLines } from '../terminal/escape.js'
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
  // A patch in a pipe may be meant for `git apply`: it stays as it is.
  const shown = screen.isTerminal || isStat ? printableLines(patch ?? '') : (patch ?? '')
  const painted = isStat
    ? statText(shown, { width: statWidth(screen), paint })
    : paintPatch(shown, paint)
  return [...authors, ...unseen, painted].filter((part) => part !== '').join('\n')
}

const WIDTH_WITHOUT_TERMINAL = 80

/** Where there is no terminal a screen is as wide as can be. */
export function statWidth({ width }: Screen): number {
  return width >= 1000 ? WIDTH_WITHOUT_TERMINAL : width
}

const MAX_AUTHORED = 50

/** Who has changed which file, if that is not the same for all. Above a patch lines that git passes over. */
function authorLines(changes: DiffResult['changes'], paint: Paint): string[] {
  const told = changes.filter(({ type, author }) => type !== 'folder' && author !== null)
  const names = new Set(told.map(({ author }) => author))
  if (names.size < 2) return []
  const shown = told.slice(0, MAX_AUTHORED)
  const width = Math.max(...shown.map(({ author }) => widthOf(printableLine(author ?? ''))))
  const more = told.length - shown.length
  return [
    paint('bold', 'Changed by'),
    ...shown.map(
      ({ author, path }) =>
        `  ${padEnd(printableLine(author ?? ''), width)}  ${pathForPeople(path)}`,
    ),
    ...(more > 0 ? [`  … and ${grouped(more)} more`] : []),
  ]
}

const LINE_COLOURS: readonly (readonly [start: RegExp, Colour])[] = [
  [/^@@/, 'cyan'],
  [/^\+/, 'green'],
  [/^-/, 'red'],
]

/** Within a hunk only the first character of a line says what it is: a removed `-- x` is no header. */
export function paintPatch(patch: string, paint: Paint): string {
  let isHeader = true
  return patch
    .split('\n')
    .map((line) => {
      if (line.startsWith('diff --git ')) isHeader = true
      if (line.startsWith('@@')) isHeader = false
      if (isHeader) return paint('bold', line)
      const colour = LINE_COLOURS.find(([start]) => start.test(line))?.[1]
      return colour === undefined ? line : paint(colour, line)
    })
    .join('\n')
}
