// Reads input that the user gives as a file or on stdin.
import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { hasCode } from '../../base/index.js'
import { jsonFault, parseExactJson, SavestateError } from '../../internal.js'
import { printable } from '../terminal/escape.js'
import { bytesOfArgument } from '../args/argv-bytes.js'

export type GivenText = {
  readonly text: string
  /** Its name in messages. */
  readonly source: string
}

const MAX_SHOWN = 300
const REFUSALS: readonly (readonly [code: string, why: string])[] = [
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['ERR_FS_FILE_TOO_LARGE', 'it is too large'],
  ['ERR_STRING_TOO_LONG', 'it is too large'],
  ['ERR_ENCODING_INVALID_ENCODED_DATA', 'it is not UTF-8 text'],
]

/** `path` as typed, to the byte; `-` is stdin. Throws BAD_INPUT if it is unreadable or not UTF-8 text. */
export async function readGiven(path: string): Promise<GivenText> {
  const source = path === '-' ? 'stdin' : printable(JSON.stringify(path.slice(0, MAX_SHOWN)))
  try {
    const bytes = path === '-' ? await buffer(process.stdin) : await readFile(bytesOfPath(path))
    // TextDecoder drops the byte order mark that some editors add.
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), source }
  } catch (cause) {
    const [, why] = REFUSALS.find(([code]) => hasCode(cause, code)) ?? []
    if (why === undefined) throw cause
    throw new SavestateError('BAD_INPUT', `${source} cannot be read: ${why}`, { cause })
  }
}

function bytesOfPath(path: string): Buffer {
  return Buffer.from(bytesOfArgument(path), 'latin1')
}

/**
 * Parses JSON that a user wrote. Throws BAD_INPUT with line and column, which the SDK finds: the message of JSON.parse differs
 * between versions of Node and sometimes has no position.
 */
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
