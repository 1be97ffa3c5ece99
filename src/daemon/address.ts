// Where a daemon is, as it tells it in a file of its store. Read by every command, so nothing is loaded for it.
import { lstatSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export type Address = {
  /** Which program it is, to the build: a daemon serves its own build alone. */
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

/** Undefined if no daemon says it is there. */
export function readAddress(home: string): Address | undefined {
  let text: string
  try {
    text = readFileSync(join(home, 'daemon', ADDRESS_FILE), 'utf8')
  } catch {
    // Whatever keeps us from reading it, the command can do its work itself, and will say what is wrong with the store.
    return undefined
  }
  return parseAddress(text)
}

/** Undefined for what is no address. */
export function parseAddress(text: string): Address | undefined {
  let json: unknown
  try {
    json = JSON.parse(text)
  } catch {
    return undefined
  }
  return isAddress(json) ? json : undefined
}

/** Whether nobody else can have put the socket there, or the address that names it. */
export function isOwnSocket(socket: string, home: string): boolean {
  const own = process.geteuid?.()
  if (own === undefined) return true
  const store = statSync(home, { throwIfNoEntry: false })
  if (store === undefined || store.uid !== own || (store.mode & OTHERS_WRITE) !== 0) return false
  const folder = lstatSync(dirname(socket), { throwIfNoEntry: false })
  if (folder === undefined || !folder.isDirectory()) return false
  return folder.uid === own && (folder.mode & OTHERS) === 0
}

const FIELDS = {
  build: 'string',
  version: 'string',
  pid: 'number',
  startedAt: 'string',
  socket: 'string',
} as const satisfies Record<Exclude<keyof Address, 'port'>, string>

function isAddress(json: unknown): json is Address {
  if (typeof json !== 'object' || json === null) return false
  const values = new Map<string, unknown>(Object.entries(json))
  const port = values.get('port')
  if (port !== null && typeof port !== 'number') return false
  return Object.entries(FIELDS).every(([name, type]) => typeof values.get(name) === type)
}
