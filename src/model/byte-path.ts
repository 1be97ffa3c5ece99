// Paths are bytes to the kernel. A BytePath holds one character (U+0000–U+00FF) per byte, so that every name survives (UTF-8 or
// not), `<` sorts like git, and it can be a Map key. Users and JSON see text: the name itself if it is valid UTF-8, else git's
// C-quoting.

declare const kind: unique symbol

/** A path or name, one character per byte; relative to the project, `/` between names, no `/` at the end. */
export type BytePath = string & { readonly [kind]: 'byte-path' }

export const ROOT = '' as BytePath

export function isAscii(text: string): boolean {
  // biome-ignore format: one expression
  return !/[^\u0000-\u007f]/.test(text)
}

export function bytePath(text: string): BytePath {
  return (isAscii(text) ? text : Buffer.from(text, 'utf8').toString('latin1')) as BytePath
}

export function bytePathFromBytes(bytes: Uint8Array): BytePath {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString(
    'latin1',
  ) as BytePath
}

/** The form for `node:fs`: a string if that is exact, else the bytes. */
export function fsPath(path: string): string | Buffer {
  return isAscii(path) ? path : Buffer.from(path, 'latin1')
}

export function joinPath(folder: BytePath, name: string): BytePath {
  return (folder === '' ? name : `${folder}/${name}`) as BytePath
}

/** The folder a path is in; the root for a path of one name. */
export function parentOf(path: BytePath): BytePath {
  const slash = path.lastIndexOf('/')
  return (slash === -1 ? '' : path.slice(0, slash)) as BytePath
}

export function nameOf(path: BytePath): BytePath {
  return path.slice(path.lastIndexOf('/') + 1) as BytePath
}

export function isInside(path: BytePath, folder: BytePath): boolean {
  return folder === '' || path === folder || path.startsWith(`${folder}/`)
}

/** False if a component is empty, `.` or `..`, so that the path may leave its root. True for the root itself. */
export function staysBelowRoot(path: BytePath): boolean {
  return path === '' || !/(?:^|\/)\.{0,2}(?:\/|$)|\0/.test(path)
}

/** The text for JSON and the SDK. Reversible: a text that starts with a double quote is C-quoted. */
export function pathText(path: BytePath): string {
  const text = utf8(path)
  if (text !== undefined && !text.startsWith('"')) return text
  return quote(path, text === undefined)
}

/** The text for a terminal: like `pathText`, with control characters quoted. */
export function printablePath(path: BytePath): string {
  const text = utf8(path)
  if (text === undefined) return quote(path, true)
  return /^"|[\u0000-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069]/.test(text)
    ? quote(path, true)
    : text
}

/** The reverse of `pathText` and `printablePath`. Throws a TypeError on a malformed quoted path. */
export function parsePathText(text: string): BytePath {
  if (!text.startsWith('"')) return bytePath(text)
  if (text.length < 2 || !text.endsWith('"'))
    throw new TypeError('A quoted path must end with a double quote')
  return unquote(Buffer.from(text.slice(1, -1), 'utf8').toString('latin1'))
}

function utf8(path: BytePath): string | undefined {
  if (isAscii(path)) return path
  const bytes = Buffer.from(path, 'latin1')
  const text = bytes.toString('utf8')
  return Buffer.from(text, 'utf8').equals(bytes) ? text : undefined
}

const LETTER_OF: Record<string, string> = {
  '\u0007': 'a',
  '\b': 'b',
  '\t': 't',
  '\n': 'n',
  '\v': 'v',
  '\f': 'f',
  '\r': 'r',
  '"': '"',
  '\\': '\\',
}
const CHAR_OF: Record<string, string> = Object.fromEntries(
  Object.entries(LETTER_OF).map(([char, letter]) => [letter, char]),
)

function quote(path: BytePath, escapeHigh: boolean): string {
  const body = path.replace(/[\u0000-\u001f"\\\u007f-\u00ff]/g, (char) => {
    const letter = LETTER_OF[char]
    if (letter !== undefined) return `\\${letter}`
    if (!escapeHigh && char >= '\u0080') return char
    return `\\${char.charCodeAt(0).toString(8).padStart(3, '0')}`
  })
  return `"${escapeHigh ? body : Buffer.from(body, 'latin1').toString('utf8')}"`
}

function unquote(body: string): BytePath {
  return body.replace(/\\([0-3][0-7]{2}|[^]|$)/g, (_, escape: string) => {
    if (escape.length === 3) return String.fromCharCode(Number.parseInt(escape, 8))
    const char = CHAR_OF[escape]
    if (char === undefined) throw new TypeError(`Unknown escape \\${escape} in a quoted path`)
    return char
  }) as BytePath
}
