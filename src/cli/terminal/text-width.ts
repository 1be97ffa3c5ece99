// The width of text on a terminal, in columns.
import { eastAsianWidth } from 'get-east-asian-width'

// biome-ignore lint/suspicious/noControlCharactersInRegex: colors begin with an escape
const COLOR = /\u001b\[[0-9;]*m/g

export function withoutColors(text: string): string {
  return text.replace(COLOR, '')
}

/** Columns of a text without control characters other than colors. */
export function widthOf(text: string): number {
  // biome-ignore format: one expression
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  let width = 0
  for (const char of withoutColors(text)) width += widthOfChar(char)
  return width
}

/** At most `width` columns; ends with `…` if something was cut off. */
export function cutEnd(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  return width < 1
    ? ''
    : `${fitting(Array.from(text), width - 1)
        .join('')
        .trimEnd()}…`
}

/** The last `width` columns; starts with `…` if something was cut off. */
export function cutStart(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  return `…${fitting(Array.from(text).reverse(), width - 1)
    .reverse()
    .join('')}`
}

/** The first characters that fit into `width` columns. */
function fitting(chars: readonly string[], width: number): string[] {
  let used = 0
  const end = chars.findIndex((char) => (used += widthOfChar(char)) > width)
  return chars.slice(0, end)
}

export function padEnd(text: string, width: number): string {
  return text + ' '.repeat(Math.max(0, width - widthOf(text)))
}

export function padStart(text: string, width: number): string {
  return ' '.repeat(Math.max(0, width - widthOf(text))) + text
}

function widthOfChar(char: string): number {
  const code = char.codePointAt(0) ?? 0
  if (code < 0x300) return 1
  // Dashes, dots, arrows and the minus sign, without the pattern below, which takes 5 ms to compile.
  if ((code >= 0x2010 && code <= 0x2027) || (code >= 0x2190 && code < 0x231a)) return 1
  // Combining marks, joiners and variation selectors.
  if (/\p{Mn}|\p{Me}|\p{Cf}/u.test(char)) return 0
  return eastAsianWidth(code)
}
