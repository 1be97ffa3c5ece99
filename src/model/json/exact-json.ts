// JSON that preserves long integers. JSON.parse silently turns 1234567890123456789, as services use for ids, into
// 1234567890123456800.

const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g

/** Like JSON.parse, but an integer that a number would change becomes a BigInt. Throws SyntaxError. */
export function parseExactJson(text: string): unknown {
  const value: unknown = JSON.parse(text)
  if (!/\d{16}/.test(text)) return value
  const mark = markNotIn(text)
  const marked = withMarks(text, mark)
  return marked === text ? value : withBigInts(JSON.parse(marked), mark)
}

/** A prefix that no string in the text starts with. Doubling it keeps the search short for every input. */
function markNotIn(text: string): string {
  const unescaped = text.replace(/\\u([0-9a-fA-F]{4})/g, (_, code: string) =>
    String.fromCharCode(Number.parseInt(code, 16)),
  )
  let mark = 'integer:'
  while (unescaped.includes(mark)) mark += mark
  return mark
}

/** The same JSON with each such integer as a string that starts with the mark. */
function withMarks(text: string, mark: string): string {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const quote = text.indexOf('"', at)
    const end = quote === -1 ? text.length : quote
    const between = text.slice(at, end)
    parts.push(between.replace(NUMBERS, (found) => (isKept(found) ? found : `"${mark}${found}"`)))
    at = quote === -1 ? end : stringEnd(text, quote)
    parts.push(text.slice(end, at))
  }
  return parts.join('')
}

/** True for everything but long integers, and for long integers that survive a round trip through a number. */
function isKept(found: string): boolean {
  return !/^-?\d{16,}$/.test(found) || String(Number(found)) === found
}

/** The text is known to be valid JSON. */
function stringEnd(text: string, start: number): number {
  for (let end = text.indexOf('"', start + 1); end !== -1; end = text.indexOf('"', end + 1)) {
    let slashes = 0
    while (text[end - 1 - slashes] === '\\') slashes += 1
    if (slashes % 2 === 0) return end + 1
  }
  return text.length
}

/** Iterative: deep nesting must not overflow the stack. */
function withBigInts(root: unknown, mark: string): unknown {
  const holder = { root }
  const open: object[] = [holder]
  for (let value = open.pop(); value !== undefined; value = open.pop())
    for (const [key, item] of Object.entries(value)) {
      if (typeof item === 'string' && item.startsWith(mark))
        Reflect.set(value, key, BigInt(item.slice(mark.length)))
      else if (typeof item === 'object' && item !== null) open.push(item)
    }
  return holder.root
}
