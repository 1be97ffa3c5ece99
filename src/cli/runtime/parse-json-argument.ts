// Parses JSON that a user wrote. The SDK finds the position of a fault, because the message of JSON.parse differs between
// versions of Node and sometimes has no position.
import { jsonFault, parseExactJson, SavestateError } from '../../internal.js'
import type { GivenText } from './read-text-argument.js'

/** Throws BAD_INPUT with line and column. */
export function parseJsonText({ text, source }: GivenText): unknown {
  try {
    return parseExactJson(text)
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    const { offset, line, column } = jsonFault(text)
    const what = offset === text.length ? 'ends too early' : 'is not JSON'
    throw new SavestateError('BAD_INPUT', `${source} ${what}: line ${line}, column ${column}`, {
      hint: 'Strings and keys must be in double quotes. Comments and trailing commas are not allowed.',
      cause,
    })
  }
}
