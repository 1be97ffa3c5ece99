// Finds the tokens of a text. It runs beside the page, because a file of 1 MB takes about 60 ms.
// The build replaces the WebAssembly module that the package brings by one that is loaded from HIGHLIGHTS_WASM.
import { isSupportedLanguage, type Lang, LiveTokenizer, tokenNames } from '@pierre/highlights'
import { tokenClass } from './token-classes.js'
import { type HighlightAnswer, type HighlightRequest, READY, type Tokens } from './tokens.js'

// The package requires a theme. The page uses only the kinds of the tokens.
const NO_THEME = { name: 'none', appearance: 'light', style: {} }
const CLASSES = tokenNames.map(tokenClass)

globalThis.addEventListener('message', ({ data }: MessageEvent<HighlightRequest>) => {
  const { id, language, text } = data
  send({ id, tokens: isSupportedLanguage(language) ? tokenize(language, text) : null })
})
// The browser may drop messages that arrive while the WebAssembly module is loading, so the page waits for this one.
send({ id: READY, tokens: null })

function send(answer: HighlightAnswer): void {
  const { tokens } = answer
  const transfer = tokens === null ? [] : [tokens.pairs.buffer, tokens.lineStarts.buffer]
  postMessage(answer, { transfer })
}

function tokenize(lang: Lang, code: string): Tokens {
  const tokenizer = new LiveTokenizer({ lang, theme: NO_THEME, code })
  const pairs: number[] = []
  const lineStarts: number[] = []
  for (let line = 0; line < tokenizer.lineCount; line += 1) {
    lineStarts.push(pairs.length)
    addLine(pairs, tokenizer.getLineRecords(line))
  }
  lineStarts.push(pairs.length)
  tokenizer.dispose()
  return { pairs: Uint32Array.from(pairs), lineStarts: Uint32Array.from(lineStarts) }
}

/** Adjacent tokens of one class become one. */
function addLine(
  pairs: number[],
  { format, data }: ReturnType<LiveTokenizer['getLineRecords']>,
): void {
  const first = pairs.length
  const isPacked = format === 'packed24'
  for (let index = 0; index < data.length; index += isPacked ? 1 : 2) {
    const word = data[index] ?? 0
    const end = isPacked ? word & 0xff_ff_ff : word
    const found = CLASSES[isPacked ? word >>> 24 : (data[index + 1] ?? 0)] ?? 0
    if (pairs.length > first && pairs.at(-1) === found) pairs[pairs.length - 2] = end
    else pairs.push(end, found)
  }
}
