// Finds where a text stops being JSON, and why. Our own scanner: the message of JSON.parse differs between versions of Node and
// sometimes names no position, and a parser from a package would be loaded at every start.

export type JsonFault = {
  /** The length of the text if something is missing at its end. */
  readonly offset: number
  /** From 1. */
  readonly line: number
  readonly column: number
  readonly what: string
}

export function jsonFault(text: string): JsonFault {
  const { offset, wanted } = scan(text)
  const comma = trailingCommaBefore(text, offset)
  // The comma is what the user has to remove, and it may be lines above.
  const before = text.slice(0, comma ?? offset).split('\n')
  const column = Array.from(before.at(-1) ?? '').length + 1
  const what =
    comma === undefined ? explain(text, offset, wanted) : 'remove the comma after the last value'
  return { offset, line: before.length, column, what }
}

function trailingCommaBefore(text: string, offset: number): number | undefined {
  const isEnd = text[offset] === '}' || text[offset] === ']'
  const before = text.slice(0, offset).trimEnd()
  return isEnd && before.endsWith(',') ? before.length - 1 : undefined
}

function explain(text: string, offset: number, wanted: Wanted): string {
  const char = text[offset] ?? ''
  if (text.trim() === '') return 'the file is empty; an empty object is {}'
  if (char === '') return 'the text ends too early'
  if (text.startsWith('//', offset) || text.startsWith('/*', offset))
    return 'comments are not allowed'
  if (char === "'") return 'single quotes are not allowed; use double quotes'
  return EXPLAINED[wanted]
}

const BLANKS = /[ \t\n\r]*/y
const SCALAR = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y

/** The tokens that may come next. In `first…` states the list or object may also end. */
type Wanted = 'value' | 'firstItem' | 'key' | 'firstKey' | 'colon' | 'after'

const EXPLAINED: Readonly<Record<Wanted, string>> = {
  value: 'a value is expected here',
  firstItem: 'a value or "]" is expected here',
  key: 'a key in double quotes is expected here',
  firstKey: 'a key in double quotes or "}" is expected here',
  colon: 'a colon is expected here',
  after: 'a comma or the end is expected here',
}

/** The offset of the first unexpected character, and what was expected. */
function scan(text: string): { readonly offset: number; readonly wanted: Wanted } {
  const open: ('{' | '[')[] = []
  let wanted: Wanted = 'value'
  const after = (pattern: RegExp, at: number) => {
    pattern.lastIndex = at
    return pattern.test(text) ? pattern.lastIndex : at
  }
  for (let at = after(BLANKS, 0); ; at = after(BLANKS, at)) {
    const char = text[at] ?? ''
    const isEnd = char === (open.at(-1) === '{' ? '}' : ']') && open.length > 0
    if (wanted === 'after' && open.length === 0) return { offset: at, wanted }
    if (isEnd && (wanted === 'after' || wanted.startsWith('first'))) {
      open.pop()
      wanted = 'after'
      at += 1
    } else if (wanted === 'after') {
      if (char !== ',') return { offset: at, wanted }
      wanted = open.at(-1) === '{' ? 'key' : 'value'
      at += 1
    } else if (wanted === 'colon') {
      if (char !== ':') return { offset: at, wanted }
      wanted = 'value'
      at += 1
    } else if (wanted === 'key' || wanted === 'firstKey') {
      const end = stringEnd(text, at)
      if (end === undefined) return { offset: at, wanted }
      wanted = 'colon'
      at = end
    } else if (char === '{' || char === '[') {
      open.push(char)
      wanted = char === '{' ? 'firstKey' : 'firstItem'
      at += 1
    } else {
      const end = char === '"' ? stringEnd(text, at) : after(SCALAR, at)
      if (end === undefined || end === at) return { offset: at, wanted }
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
