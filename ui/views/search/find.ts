// Finds words in the checkpoints that the page has loaded, and merges them with the answer of the server. Pure.
import type { Output, Row } from '../../../src/ui/api.js'

export type Found = {
  readonly row: Row
  /** The whole prompt, if the server knows it. */
  readonly prompt: string | null
  /** Changed paths with one of the words. */
  readonly paths: readonly string[]
  /** Lines of the conversation with one of the words. */
  readonly lines: readonly string[]
}

export function wordsOf(query: string): readonly string[] {
  return [...new Set(query.toLowerCase().split(/\s+/))].filter((word) => word !== '')
}

/** Rows with all of the words in name and reason, in the given order. */
export function findLoaded(rows: readonly Row[], words: readonly string[]): readonly Found[] {
  if (words.length === 0) return []
  return rows
    .filter(({ name, reason }) => {
      const text = `${name ?? ''}\n${reason ?? ''}`.toLowerCase()
      return words.every((word) => text.includes(word))
    })
    .map((row) => ({ row, prompt: null, paths: [], lines: [] }))
}

/** Newest first, each once; the server's form of a row has more. */
export function mergeFound(
  loaded: readonly Found[],
  answer: Output<'search'> | undefined,
): readonly Found[] {
  if (answer === undefined) return loaded
  const found = new Map<string, Found>(loaded.map((one) => [one.row.id, one]))
  const said = answer.hits.filter(isSaid)
  for (const { prompt, paths, ...row } of answer.matches) {
    const lines = said.flatMap(({ checkpoint, text }) => (checkpoint === row.id ? [text] : []))
    found.set(row.id, { row, prompt, paths, lines })
  }
  return [...found.values()].sort(
    (a, b) => Date.parse(b.row.createdAt) - Date.parse(a.row.createdAt),
  )
}

/** The row itself shows its message, name, prompt and paths. */
function isSaid({ where }: Output<'search'>['hits'][number]): boolean {
  return where === 'answer' || where === 'tool'
}

export type Segment = { readonly text: string; readonly isHit: boolean }

/** The text in pieces, with the words marked. */
export function markWords(text: string, words: readonly string[]): readonly Segment[] {
  const lower = text.toLowerCase()
  // A few letters have another length in lower case; then no position is certain.
  if (lower.length !== text.length) return [{ text, isHit: false }]
  const hits = new Uint8Array(text.length)
  for (const word of words)
    for (let at = lower.indexOf(word); at >= 0; at = lower.indexOf(word, at + 1))
      hits.fill(1, at, at + word.length)
  const segments: Segment[] = []
  let start = 0
  for (let end = 1; end <= text.length; end += 1) {
    if (end < text.length && hits[end] === hits[start]) continue
    segments.push({ text: text.slice(start, end), isHit: hits[start] === 1 })
    start = end
  }
  return segments
}

const BEFORE_HIT = 40

/** The part of a long text around the first word. */
export function excerpt(text: string, words: readonly string[], length: number): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  if (line.length <= length) return line
  const lower = line.toLowerCase()
  const positions = words.map((word) => lower.indexOf(word)).filter((at) => at >= 0)
  const first = positions.length === 0 ? 0 : Math.min(...positions)
  const from = Math.max(0, Math.min(first - BEFORE_HIT, line.length - length))
  const to = from + length
  return `${from > 0 ? '…' : ''}${line.slice(from, to)}${to < line.length ? '…' : ''}`
}
