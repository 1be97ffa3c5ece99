// Breaks prose between words, so that a terminal does not break it within them. Commands stay in one piece: a user
// copies them.
import { widthOf } from './text-width.js'

/** A command in backticks, a command to the end of the line, or a word. */
const PIECE = /\S*`[^`]*`\S*|\bsavestate -?-?\w.*$|\S+/g
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with an escape
const COLOUR = /\u001b\[[0-9;]*m/g

/** One line of text as lines of at most `width` columns, where words allow it. */
export function wrapWords(text: string, width: number, piece: RegExp = /\S+/g): string[] {
  const lines: string[] = []
  let line = ''
  for (const [word] of text.matchAll(piece)) {
    if (line !== '' && columns(line) + 1 + columns(word) > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}

/** A message for a terminal. Indented lines are tables, lists and commands, and stay as they are. */
export function wrapMessage(text: string, width: number): string {
  const isProse = (line: string) => columns(line) > width && !/^\s/.test(line.replace(COLOUR, ''))
  return text
    .split('\n')
    .flatMap((line) => (isProse(line) ? wrapWords(line, width, PIECE) : [line]))
    .join('\n')
}

function columns(text: string): number {
  return widthOf(text.replace(COLOUR, ''))
}
