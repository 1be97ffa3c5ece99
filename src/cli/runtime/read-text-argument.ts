// Reads input that the user gives as a file or on stdin.
import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { hasCode } from '../../base/index.js'
import { jsonFault, parseExactJson, SavestateError } from '../../internal.js'
import { printable } from '../terminal/escape.js'
import { bytesOfArgument } from '../args/argv-bytes.js'

export type GivenText = {
  readonly text: string
  /** Its name in messages. */
  readonly source: string
}

/** A file or stdin that can be read more than once. */
export type GivenBytes = {
  readonly source: string
  readonly chunks: () => AsyncIterable<Uint8Array>
}

const MAX_SHOWN = 300
const REFUSALS: readonly (readonly [code: string, why: string])[] = [
  ['ENOENT', 'there is no such file'],
  ['ENOTDIR', 'there is no such file'],
  ['ENAMETOOLONG', 'its name is too long'],
  ['EISDIR', 'it is a folder'],
  ['EACCES', 'permission denied'],
  ['ERR_STRING_TOO_LONG', 'it is too large'],
  ['ERR_ENCODING_INVALID_ENCODED_DATA', 'it is not UTF-8 text'],
]

/** `path` as typed, to the byte; `-` is stdin. Throws BAD_INPUT if it is unreadable or not UTF-8 text. */
export async function readGiven(path: string): Promise<GivenText> {
  return textOf(await openGiven(path))
}

/** Reads a regular file each time. Stdin, a pipe or a device can be read only once, so its bytes are kept in memory. */
export async function openGiven(path: string): Promise<GivenBytes> {
  const source = path === '-' ? 'stdin' : printable(JSON.stringify(path.slice(0, MAX_SHOWN)))
  const file = () => createReadStream(bytesOfPath(path))
  try {
    if (path !== '-' && (await stat(bytesOfPath(path))).isFile()) return { source, chunks: file }
    const kept = await readAll(path === '-' ? process.stdin : file())
    return {
      source,
      async *chunks() {
        yield* kept
      },
    }
  } catch (cause) {
    throw refusalOf(source, cause)
  }
}

/** Throws BAD_INPUT. */
export async function textOf({ source, chunks }: GivenBytes): Promise<GivenText> {
  try {
    const bytes = Buffer.concat(await readAll(chunks()))
    // TextDecoder drops the byte order mark that some editors add.
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes), source }
  } catch (cause) {
    throw refusalOf(source, cause)
  }
}

/** Yields the text in pieces. */
export async function* textsOf({ source, chunks }: GivenBytes): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  try {
    for await (const chunk of chunks()) yield decoder.decode(chunk, { stream: true })
    yield decoder.decode()
  } catch (cause) {
    throw refusalOf(source, cause)
  }
}

/** Returns any other error unchanged. */
function refusalOf(source: string, cause: unknown): unknown {
  const [, why] = REFUSALS.find(([code]) => hasCode(cause, code)) ?? []
  if (why === undefined) return cause
  return new SavestateError('BAD_INPUT', `${source} cannot be read: ${why}`, { cause })
}

function bytesOfPath(path: string): Buffer {
  return Buffer.from(bytesOfArgument(path), 'latin1')
}

async function readAll(stream: AsyncIterable<unknown>): Promise<readonly Uint8Array[]> {
  const parts: Uint8Array[] = []
  for await (const part of stream) if (part instanceof Uint8Array) parts.push(part)
  return parts
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
