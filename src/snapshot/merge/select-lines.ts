// Takes back chosen hunks, or single lines of them, in the newer of two texts. Pure. Texts and lines have one character per byte.
import { type HunkSelection, SavestateError } from '../../model/index.js'
import type { Hunk } from '../compare/file-patch.js'

/** `hunks` lead from the older text to `newer`. Throws BAD_INPUT for a hunk or line that does not exist. */
export function selectLines(
  newer: string,
  hunks: readonly Hunk[],
  selected: readonly HunkSelection[],
): string {
  const chosen = new Map<number, ReadonlySet<number> | 'all'>()
  for (const one of selected) {
    const [index, lines] = typeof one === 'number' ? [one, undefined] : [one.hunk, one.lines]
    const hunk = hunks[index]
    if (hunk === undefined) throw noSuch(`hunk ${index}; there are ${hunks.length}`)
    for (const line of lines ?? [])
      if (!isChange(hunk.lines[line])) throw noSuch(`changed line ${line} in hunk ${index}`)
    chosen.set(index, lines === undefined ? 'all' : new Set(lines))
  }
  const all = splitLines(newer)
  const result: string[] = []
  let at = 0
  for (const [index, hunk] of hunks.entries()) {
    // git names the line before an empty range.
    const start = hunk.newLines === 0 ? hunk.newStart : hunk.newStart - 1
    result.push(...all.slice(at, start))
    result.push(...linesOf(hunk, chosen.get(index) ?? new Set()))
    at = start + hunk.newLines
  }
  result.push(...all.slice(at))
  return joinLines(result)
}

/** The lines of a hunk after the chosen changes are taken back. */
function linesOf({ lines }: Hunk, chosen: ReadonlySet<number> | 'all'): readonly string[] {
  return lines.flatMap((line, index) => {
    const sign = line[0]
    if (sign === '\\') return []
    const isChosen = chosen === 'all' || chosen.has(index)
    const isThere = sign === ' ' || (sign === '-') === isChosen
    const isOpen = lines[index + 1]?.startsWith('\\') === true
    return isThere ? [`${line.slice(1)}${isOpen ? '' : '\n'}`] : []
  })
}

function isChange(line: string | undefined): boolean {
  return line?.startsWith('+') === true || line?.startsWith('-') === true
}

/** With their newlines. */
function splitLines(text: string): string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? []
}

/** Only the last line of a file can lack its newline. */
function joinLines(lines: readonly string[]): string {
  return lines
    .map((line, index) => (line.endsWith('\n') || index === lines.length - 1 ? line : `${line}\n`))
    .join('')
}

function noSuch(what: string): SavestateError {
  return new SavestateError('BAD_INPUT', `The patch has no ${what}`, {
    hint: 'Number hunks and lines from 0, as in the patch of the file.',
  })
}
