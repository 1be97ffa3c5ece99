// What may reach a terminal. A name, a reason or a line of a file can hold escape sequences that move the
// cursor, retitle the window or hide text; here they become visible and do nothing.
import { jsonEscape, UNSAFE_CHARACTERS } from '../../base/index.js'
import { parsePathText, printablePath, SavestateError } from '../../internal.js'

/** One line that shows what it holds. */
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

/** One line for a list: line breaks become blanks. */
export function printableLine(text: string): string {
  return printable(text.trim().replace(/\s+/g, ' '))
}

/** For text of many lines, such as a patch: line breaks and tabs stay. */
export function printableLines(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (char) =>
    char === '\n' || char === '\t' ? char : caret(char.codePointAt(0) ?? 0),
  )
}

/** A path as the SDK gives it. The project itself is `.`. */
export function pathForPeople(text: string): string {
  return text === '' ? '.' : printable(printablePath(parsePathText(text)))
}

/**
 * JSON that a terminal shows as it is: the same value, with nothing in it that acts. Throws BAD_INPUT for what is nested
 * deeper than JSON.stringify has stack for.
 */
export function jsonForPeople(value: unknown): string {
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

/** By number, as JSON writes a character in double quotes; line breaks stay. */
export function escapeUnsafe(text: string): string {
  return text.replace(UNSAFE_CHARACTERS, (char) => (char === '\n' ? char : jsonEscape(char)))
}

/** As git and less show it: ^[ for escape. */
function caret(code: number): string {
  if (code < 0x20 || code === 0x7f) return `^${String.fromCharCode(code ^ 0x40)}`
  return `<U+${code.toString(16).toUpperCase().padStart(4, '0')}>`
}
