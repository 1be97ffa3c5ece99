// JSON that a person wrote. JSON.parse judges it; where it is wrong is found here, because what
// JSON.parse says of that differs between versions of Node and sometimes names no place at all.
import { parseExactJson, SavestateError } from '../index.js'
import type { GivenText } from './given-text.js'

/** Throws BAD_INPUT with line and column. */
export function parseJsonText({ text, source }: GivenText): unknown {
  try {
    return parseExactJson(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const at = faultIn(text)
    const before = text.slice(0, at).split('\n')
    const place = `line ${before.length}, column ${Array.from(before.at(-1) ?? '').length + 1}`
    const what = at === text.length ? 'ends too early' : 'is not JSON'
    throw new SavestateError('BAD_INPUT', `${source} ${what}: ${place}`, {
      hint: 'Strings and keys must be in double quotes. Comments and trailing commas are not allowed.',
      cause,
    })
  }
}

const BLANKS = /[ \t\n\r]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** What may come next. In `first…` the end of the list or object may come too. */
type Wanted = 'value' | 'firstItem' | 'key' | 'firstKey' | 'colon' | 'after'

/** The place of the first thing that cannot stand there; the length of the text if something is missing. */
export function faultIn(text: string): number {
  const open: ('{' | '[')[] = []
  let wanted: Wanted = 'value'
  const after = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at
    return pattern.test(text) ? pattern.lastIndex : at
  }
  for (let at = after(BLANKS, 0); ; at = after(BLANKS, at)) {
    const char = text[at] ?? ''
    const isEnd = char === (open.at(-1) === '{' ? '}' : ']') && open.length > 0
    if (wanted === 'after' && open.length === 0) return at
    if (isEnd && (wanted === 'after' || wanted.startsWith('first'))) {
      open.pop()
      wanted = 'after'
      at += 1
    } else if (wanted === 'after') {
      if (char !== ',') return at
      wanted = open.at(-1) === '{' ? 'key' : 'value'
      at += 1
    } else if (wanted === 'colon') {
      if (char !== ':') return at
      wanted = 'value'
      at += 1
    } else if (wanted === 'key' || wanted === 'firstKey') {
      const end = stringEnd(text, at)
      if (end === undefined) return at
      wanted = 'colon'
      at = end
    } else if (char === '{' || char === '[') {
      open.push(char)
      wanted = char === '{' ? 'firstKey' : 'firstItem'
      at += 1
    } else {
      const end = char === '"' ? stringEnd(text, at) : after(SCALAR, at)
      if (end === undefined || end === at) return at
      wanted = 'after'
      at = end
    }
  }
}

/** Undefined if no whole string begins there. */
function stringEnd(text: string, start: number): number | undefined {
  if (text[start] !== '"') return undefined
  for (let at = start + 1; at < text.length; at += 1) {
    const char = text[at] ?? ''
    if (char === '"') return at + 1
    if (char < ' ') return undefined
    if (char !== '\\') continue
    const escape = /^(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(text.slice(at + 1, at + 6))
    if (escape === null) return undefined
    at += escape[0].length
  }
  return undefined
}
