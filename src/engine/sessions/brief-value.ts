// Formats values of any size and depth on one line of a brief. Writing stops at MAX_CHARS, so deep values and cycles are safe.
import { types } from 'node:util'
import { jsonEscape, UNSAFE_CHARACTERS } from '../../base/index.js'
import { isError } from '../../model/index.js'

const MAX_CHARS = 300

/** Escapes line ends, control characters and invisible characters, which a model would read and a user would not see. */
export function escapeToOneLine(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (char) => {
    const escaped = JSON.stringify(char).slice(1, -1)
    return escaped === char ? jsonEscape(char) : escaped
  })
}

/** A longer text ends with an ellipsis. Never splits a surrogate pair. */
export function truncate(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text
  if (maxChars < 1) return ''
  return `${text.slice(0, maxChars - 1).replace(/[\ud800-\udbff]$/, '')}…`
}

export function formatText(text: string): string {
  return truncate(escapeToOneLine(truncate(text, MAX_CHARS)), MAX_CHARS)
}

export function formatValue(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (isError(value)) return formatText(formatError(value))
  const draft = { text: '' }
  write(draft, value)
  return truncate(escapeToOneLine(draft.text), MAX_CHARS)
}

type Draft = { text: string }

/** Writes JSON where JSON can express the value. Each level adds a character, so a cycle ends too. */
function write(draft: Draft, value: unknown): void {
  if (draft.text.length > MAX_CHARS) return
  if (typeof value !== 'object' || value === null) draft.text += formatScalar(value)
  else if (Array.isArray(value)) writeList(draft, value)
  else if (types.isMap(value)) {
    draft.text += 'Map '
    writeList(draft, value.entries())
  } else if (types.isSet(value)) {
    draft.text += 'Set '
    writeList(draft, value.values())
  } else {
    const leaf = formatLeaf(value)
    if (leaf === undefined) writeObject(draft, value)
    else draft.text += leaf
  }
}

function formatScalar(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return JSON.stringify(value.slice(0, MAX_CHARS))
    case 'number':
    case 'bigint':
    case 'boolean':
      return String(value)
    default:
      return value === null ? 'null' : typeof value
  }
}

function formatLeaf(value: object): string | undefined {
  if (types.isDate(value)) return JSON.stringify(value)
  if (isError(value)) return formatScalar(formatError(value))
  if (value instanceof URL) return formatScalar(value.href)
  if (types.isRegExp(value)) return String(value)
  if (ArrayBuffer.isView(value) || types.isAnyArrayBuffer(value)) return `${value.byteLength} bytes`
  return undefined
}

/** Like `String(error)`, which throws if `name`, `message` or `toString` has the wrong type. */
function formatError({ name, message }: Readonly<Record<'name' | 'message', unknown>>): string {
  return (
    [name, message].filter((part) => typeof part === 'string' && part !== '').join(': ') || 'Error'
  )
}

function writeList(draft: Draft, items: Iterable<unknown>): void {
  draft.text += '['
  let isFirst = true
  for (const item of items) {
    if (!isFirst) draft.text += ','
    isFirst = false
    write(draft, item)
    if (draft.text.length > MAX_CHARS) return
  }
  draft.text += ']'
}

function writeObject(draft: Draft, object: object): void {
  draft.text += '{'
  let isFirst = true
  for (const key of Object.keys(object)) {
    const value: unknown = Reflect.get(object, key)
    if (value === undefined) continue
    draft.text += `${isFirst ? '' : ','}${formatScalar(key)}:`
    isFirst = false
    write(draft, value)
    if (draft.text.length > MAX_CHARS) return
  }
  draft.text += '}'
}
