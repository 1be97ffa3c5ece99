// The file in the store with the address of the daemon. Every hook reads it, so this module imports little.
import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fieldsOf, tryParseJson } from '../base/index.js'

export type Address = {
  /** A daemon serves only callers of its own build. */
  readonly build: string
  readonly version: string
  readonly pid: number
  /** ISO 8601. */
  readonly startedAt: string
  /** The path of the Unix socket. */
  readonly socket: string
  /** The TCP port on the loopback; null if the daemon listens only on its Unix socket. */
  readonly port: number | null
}

export const ADDRESS_FILE = 'address.json'
const OTHERS_WRITE = 0o022
const OTHERS = 0o077

/** Undefined if there is no daemon. */
export function readAddress(home: string): Address | undefined {
  let text: string
  try {
    text = readFileSync(join(home, 'daemon', ADDRESS_FILE), 'utf8')
  } catch {
    // The command does the work itself, and reports a store that is not accessible.
    return undefined
  }
  return parseAddress(text)
}

/** Undefined if the text is not an address. */
export function parseAddress(text: string): Address | undefined {
  const json = tryParseJson(text)
  return isAddress(json) ? json : undefined
}

/** Whether only this user can have created the socket and the address that names it. */
export function isOwnSocket(socket: string, home: string): boolean {
  const own = process.geteuid?.()
  if (own === undefined) return true
  const store = statSync(home, { throwIfNoEntry: false })
  if (store === undefined || store.uid !== own || (store.mode & OTHERS_WRITE) !== 0) return false
  const folder = lstatSync(dirname(socket), { throwIfNoEntry: false })
  if (folder === undefined || !folder.isDirectory()) return false
  return folder.uid === own && (folder.mode & OTHERS) === 0
}

/** The file is private to the user; another version may have written it. */
function isAddress(json: unknown): json is Address {
  const { pid, socket } = fieldsOf(json)
  return typeof pid === 'number' && typeof socket === 'string'
}
