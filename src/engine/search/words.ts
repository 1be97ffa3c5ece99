// Which words of a query a text has, and the line to show. Pure.

/** In lower case, each once. */
export function wordsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== '')
}

export type TextMatch = {
  readonly words: readonly string[]
  /** The first of the lines with the most words. */
  readonly text: string
  /** The number of that line; 1 is the first. */
  readonly line: number
}

const MAX_CHARS = 200
const BEFORE_HIT = 60

/** Undefined if the text has none of the words, which are in lower case. */
export function matchText(text: string, words: readonly string[]): TextMatch | undefined {
  const lowered = text.toLowerCase()
  const found = words.filter((word) => lowered.includes(word))
  if (found.length === 0) return undefined
  let best = { count: 0, line: '', number: 1 }
  for (const [index, line] of text.split(/\r\n|[\n\r]/).entries()) {
    const lower = line.toLowerCase()
    const count = found.filter((word) => lower.includes(word)).length
    if (count > best.count) best = { count, line, number: index + 1 }
    if (count === found.length) break
  }
  return { words: found, text: excerpt(best.line, found), line: best.number }
}

/** The part of a long line around the first word. */
function excerpt(line: string, words: readonly string[]): string {
  const trimmed = line.trim()
  if (trimmed.length <= MAX_CHARS) return trimmed
  const lower = trimmed.toLowerCase()
  const positions = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const first = Math.min(...positions)
  const from = Math.max(0, Math.min(first - BEFORE_HIT, trimmed.length - MAX_CHARS))
  const to = from + MAX_CHARS
  // Half of a character at an end would be unreadable.
  const part = trimmed.slice(from, to).replace(/^[\udc00-\udfff]|[\ud800-\udbff]$/g, '')
  return `${from > 0 ? '…' : ''}${part}${to < trimmed.length ? '…' : ''}`
}
