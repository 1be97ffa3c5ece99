// Where the keys come from: the caller, or the environment. They are never written anywhere, and no message shows them.
import { closeSync, fstatSync, openSync, readFileSync, realpathSync } from 'node:fs'
import { sep } from 'node:path'
import { type GivenKeys, KEY_BYTES, SealingKey } from '../../ledger/index.js'
import { hasCode, SavestateError } from '../../model/index.js'
import type { Known } from './validate-options.js'

/** 32 bytes, or the same as 64 hexadecimal digits or as base64. */
export type KeyInput = string | Uint8Array

export type Encryption = {
  /** The key that encrypts states. The first write with a key makes the store an encrypted one. */
  readonly key?: KeyInput
  /** The key to change to with `store.rekey`. Either of both opens what it has encrypted. */
  readonly newKey?: KeyInput
}

export const ENCRYPTION_OPTIONS: Known<Encryption> = { key: true, newKey: true }

type Environment = Readonly<Record<string, string | undefined>>

/** Throws KEY_UNUSABLE. */
export function givenKeys(
  encryption: Encryption | undefined,
  { home, environment }: { readonly home: string; readonly environment: Environment },
): GivenKeys {
  if (encryption !== undefined) {
    const { key, newKey } = encryption
    return { key: parsed(key, 'encryption.key'), newKey: parsed(newKey, 'encryption.newKey') }
  }
  const from = (name: string) => {
    const [text, path] = [environment[name], environment[`${name}_FILE`]]
    if (text !== undefined && path !== undefined)
      throw unusable(`Both ${name} and ${name}_FILE are set`, 'Unset one of them.')
    if (path === undefined) return parsed(text, name)
    return parsed(readKeyFile(path, { home, name: `${name}_FILE` }), `The file of ${name}_FILE`)
  }
  return { key: from('SAVESTATE_KEY'), newKey: from('SAVESTATE_NEW_KEY') }
}

function parsed(input: KeyInput | undefined, what: string): SealingKey | undefined {
  if (input === undefined) return undefined
  const bytes = typeof input === 'string' ? bytesIn(input.trim()) : input
  if (bytes?.length === KEY_BYTES) return new SealingKey(bytes)
  throw unusable(
    `${what} is not a key`,
    'A key is 32 bytes, as 64 hexadecimal digits or as base64: `openssl rand -hex 32` makes one.',
  )
}

function bytesIn(text: string): Uint8Array | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return Buffer.from(text, 'hex')
  // 43 letters are 258 bits, so the last one must end with two zeros.
  if (/^[\w+/-]{42}[AEIMQUYcgkosw048]=?$/.test(text)) return Buffer.from(text, 'base64')
  return undefined
}

function readKeyFile(
  path: string,
  { home, name }: { readonly home: string; readonly name: string },
): string {
  let fd: number
  try {
    fd = openSync(path, 'r')
  } catch (cause) {
    if (!hasCode(cause, 'ENOENT', 'EACCES', 'EPERM', 'ENOTDIR', 'ELOOP')) throw cause
    throw unusable(`The file of ${name} cannot be read: ${path}`, 'Check the path.', cause)
  }
  try {
    const stats = fstatSync(fd)
    if (!stats.isFile()) throw unusable(`${name} does not name a file: ${path}`, 'Check the path.')
    if (process.platform !== 'win32' && (stats.mode & 0o077) !== 0)
      throw unusable(`Other users can read the file of ${name}: ${path}`, `Run: chmod 600 ${path}`)
    if (`${realpathSync(path)}${sep}`.startsWith(`${home}${sep}`))
      throw unusable(
        `The file of ${name} is in the store that it encrypts: ${path}`,
        'Keep it elsewhere, so that a copy of the store is not a copy of the key.',
      )
    return readFileSync(fd, 'utf8')
  } finally {
    closeSync(fd)
  }
}

function unusable(message: string, hint: string, cause?: unknown): SavestateError {
  return new SavestateError('KEY_UNUSABLE', message, { hint, cause })
}
