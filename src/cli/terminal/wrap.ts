// Breaks prose between words, so that the terminal does not break it inside them. Commands stay in one piece for copying.
import { widthOf, withoutColors } from './text-width.js'

/** A command in backticks, a command to the end of the line, or a word. */
const PIECE = /\S*`[^`]*`\S*|\bsavestate -?-?\w.*$|\S+/g

/** One line of text as lines of at most `width` columns, where words allow it. */
export function wrapWords(text: string, width: number, piece: RegExp = /\S+/g): string[] {
  const lines: string[] = []
  let line = ''
  for (const [word] of text.matchAll(piece)) {
    if (line !== '' && widthOf(line) + 1 + widthOf(word) > width) {
      lines.push(line)
      line = word
    } else {
      line = line === '' ? word : `${line} ${word}`
    }
  }
  return [...lines, line]
}

const USAGE = 'Usage: '
/** A word, or everything between brackets. */
const USAGE_PIECE = /\[(?:[^[\]]|\[[^\]]*\])*\]…?|\S+/g

/** `Usage: …`, with the lines after the first below its command. */
export function wrapUsage(usage: string, width: number): string[] {
  const lines = wrapWords(usage, width - USAGE.length, USAGE_PIECE)
  return lines.map((line, index) => (index === 0 ? USAGE : ' '.repeat(USAGE.length)) + line)
}

/** `Store:        …`: a label and the spaces behind it. */
const LABEL = /^[^:\s][^:]*: {2,}/

/** Indents the lines after the first below the text, not below its label. */
function wrapLabelled(line: string, width: number): string[] {
  const [label = ''] = LABEL.exec(line) ?? []
  const indent = widthOf(label)
  const lines = wrapWords(line.slice(label.length), width - indent, PIECE)
  return lines.map((text, index) => (index === 0 ? label : ' '.repeat(indent)) + text)
}

/** A message for a terminal. Indented lines are tables, lists and commands, and stay as they are. */
export function wrapMessage(text: string, width: number): string {
  const isProse = (line: string) => widthOf(line) > width && !/^\s/.test(withoutColors(line))
  return text
    .split('\n')
    .flatMap((line) => {
      if (!isProse(line)) return [line]
      return line.startsWith(USAGE)
        ? wrapUsage(line.slice(USAGE.length), width)
        : wrapLabelled(line, width)
    })
    .join('\n')
}
