// Keys in files: of the store, and of its remotes. Messages name the file and never show its content.
import {
  closeSync,
  fstatSync,
  fsyncSync,
  openSync,
  readFileSync,
  realpathSync,
  writeSync,
} from 'node:fs'
import { dirname, sep } from 'node:path'
import { KEY_BYTES } from '../../ledger/index.js'
import { hasCode, SavestateError } from '../../model/index.js'
import type { Clock } from '../../system/index.js'

/** `home`: the store, in which no key may be. */
type KeyFile = { readonly home: string }

/** Throws KEY_UNUSABLE if others can read the file, or if it is in the store. */
export function readKeyFile(path: string, { home }: KeyFile): string {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'ELOOP')) throw cause
    throw unusableKey(`The key file ${path} cannot be read`, 'Check the path.', cause)
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw unusableKey(`${path} is not a file`, 'Check the path.')
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
      throw unusableKey(`Other users can read the key file ${path}`, `Run: chmod 600 ${path}`)
    refuseInStore(path, { home })
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

/** The key in a variable, or in the file that `<name>_FILE` names. Throws KEY_UNUSABLE. */
export function readEnvironmentKey(
  name: string,
  {
    home,
    environment,
  }: KeyFile & { readonly environment: Readonly<Record<string, string | undefined>> },
): Uint8Array | undefined {
  const [text, path] = [environment[name], environment[`${name}_FILE`]]
  if (text !== undefined && path !== undefined)
    throw unusableKey(`Both ${name} and ${name}_FILE are set`, 'Unset one of them.')
  if (text !== undefined) return parseKey(text, name)
  return path === undefined
    ? undefined
    : parseKey(readKeyFile(path, { home }), `The file of ${name}_FILE`)
}

/** The key in the file; a new one if there is no such file. `isNew`: it was made. */
export function readOrMakeKey(
  path: string,
  { clock, home }: KeyFile & { readonly clock: Clock },
): { readonly key: Uint8Array; readonly isNew: boolean } {
  try {
    refuseInStore(dirname(path), { home })
    const fd = openSync(path, 'wx', 0o600)
    try {
      const key = clock.random(KEY_BYTES)
      writeSync(fd, `${Buffer.from(key).toString('hex')}\n`)
      fsyncSync(fd)
      return { key, isNew: true }
    } finally {
      closeSync(fd)
    }
  } catch (cause) {
    if (hasCode(cause, 'EEXIST'))
      return { key: parseKey(readKeyFile(path, { home }), path), isNew: false }
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'EROFS')) throw cause
    throw unusableKey(`The key file ${path} cannot be created`, 'Check the path.', cause)
  }
}

export function parseKey(input: string | Uint8Array, of: string): Uint8Array {
  const bytes = typeof input === 'string' ? bytesIn(input.trim()) : input
  if (bytes?.length === KEY_BYTES) return bytes
  throw unusableKey(
    `${of} is not a key`,
    'A key is 32 bytes, as 64 hexadecimal digits or as base64: `openssl rand -hex 32` makes one.',
  )
}

export function unusableKey(message: string, hint: string, cause?: unknown): SavestateError {
  return new SavestateError('KEY_UNUSABLE', message, { hint, cause })
}

function bytesIn(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  // 43 letters are 258 bits, so the last one must end with two zeros.
  if (/^[\w+/-]{42}[AEIMQUYcgkosw048]=?$/.test(text)) return Buffer.from(text, 'base64')
  return undefined
}

function refuseInStore(path: string, { home }: KeyFile): void {
  if (!`${realpathSync(path)}${sep}`.startsWith(`${home}${sep}`)) return
  throw unusableKey(
    `The key file ${path} is in the store that it encrypts`,
    'Keep it elsewhere, so that a copy of the store is not a copy of the key.',
  )
}
