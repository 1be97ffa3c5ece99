// Tokens as the worker sends them: two arrays that move between threads without a copy.

export type Tokens = {
  /** Pairs: the column where the token ends, and its class (see token-classes.ts). */
  readonly pairs: Uint32Array<ArrayBuffer>
  /** For each line the index of its first pair, and at the end the number of all. */
  readonly lineStarts: Uint32Array<ArrayBuffer>
}

export type HighlightRequest = {
  readonly id: number
  readonly language: string
  readonly text: string
}
/** The id of the answer that says that the worker runs. */
export const READY = 0
/** `tokens` is null if the language is unknown. */
export type HighlightAnswer = { readonly id: number; readonly tokens: Tokens | null }

export type Token = { readonly end: number; readonly class: number }

export function tokensOfLine(tokens: Tokens | undefined, line: number): readonly Token[] {
  const start = tokens?.lineStarts[line]
  const end = tokens?.lineStarts[line + 1]
  if (tokens === undefined || start === undefined || end === undefined) return []
  const found: Token[] = []
  for (let index = start; index < end; index += 2)
    found.push({ end: tokens.pairs[index] ?? 0, class: tokens.pairs[index + 1] ?? 0 })
  return found
}
