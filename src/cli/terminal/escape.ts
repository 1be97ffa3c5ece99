// Makes text safe for a terminal. A name, a message or a line of a file can contain escape sequences that move the cursor,
// change the title of the window or hide text; here they become visible and do nothing.
import { jsonEscape, UNSAFE_CHARACTERS } from '../../base/index.js'
import { parsePathText, printablePath, SavestateError } from '../../internal.js'

/** One line: line breaks and control characters become visible. */
export function printable(text: string): string {
  if (/^[\x20-\x7e]*$/.test(text)) return text
  return text.replace(UNSAFE_CHARACTERS, (char) => {
    if (char === '\n') return '\\n'
    if (char === '\t') return '\\t'
    if (char === '\r') return '\\r'
    const code = char.codePointAt(0) ?? 0
    return code < 0x100
      ? `\\x${code.toString(16).padStart(2, '0')}`
      : `\\u{${code.toString(16).padStart(4, '0')}}`
  })
}

/** One line for a list: line breaks become spaces. */
export function printableLine(text: string): string {
  return printable(text.trim().replace(/\s+/g, ' '))
}

/** For text of several lines, such as a patch: line breaks and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (char) =>
    char === '\n' || char === '\t' ? char : caret(char.codePointAt(0) ?? 0),
  )
}

/** A path of the SDK. The project itself is `.`. */
export function displayPath(text: string): string {
  return text === '' ? '.' : printable(printablePath(parsePathText(text)))
}

/** JSON of the same value that is safe on a terminal. Throws BAD_INPUT if it is too deep for the stack of JSON.stringify. */
export function displayJson(value: unknown): string {
  return escapeUnsafe(jsonText(value))
}

function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value, null, 2)
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new SavestateError('BAD_INPUT', 'This state is nested too deeply to be printed', {
      hint: 'The stored state is unchanged: read it with `session.stateAt()` of the SDK.',
      cause,
    })
  }
}

/** Writes unsafe characters as JSON escapes; line breaks stay. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (char) => (char === '\n' ? char : jsonEscape(char)))
}

/** As in git and less: ^[ for escape. */
function caret(code: number): string {
  if (code < 0x20 || code === 0x7f) return `^${String.fromCharCode(code ^ 0x40)}`
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}
