// remotes.json in the store: the named remotes. A URL in it may contain a password, so only the user can read the file, and everything
// that is shown uses the label. It never contains a key, only the path of a key file.
import { isAbsolute, join } from 'node:path'
import { isRecord, tryParseJson } from '../../base/index.js'
import { parseRemoteUrl, type RemoteKind, SavestateError } from '../../model/index.js'
import { readIfThere, writeFileAtomically } from '../../system/index.js'
import { withConfigLock } from '../store/config-lock.js'

export type RemoteEntry = {
  readonly name: string
  /** With credentials: never shown. */
  readonly url: string
  /** Absolute. Null: nothing is encrypted. */
  readonly keyFile: string | null
  /** PostgreSQL only. */
  readonly schema: string | null
  /** Whether the daemon pushes after each turn. */
  readonly autoPush: boolean
  /** The id that the remote gave itself; null until the first contact. */
  readonly id: string | null
}

/** A remote as it is shown. */
export type RemoteView = {
  readonly name: string
  readonly kind: RemoteKind
  /** The URL without credentials. */
  readonly label: string
  readonly keyFile: string | null
  readonly schema: string | null
  readonly autoPush: boolean
}

const FILE = 'remotes.json'
const VERSION = 1
export const DEFAULT_SCHEMA = 'savestate'
const NAME = /^[a-z\d][\w.-]{0,63}$/i
/** Needs no quotes in PostgreSQL. */
const SCHEMA = /^[a-z_][a-z\d_]{0,62}$/

/** In the order in which they were added. Throws CONFIG_INVALID. */
export function readRemotes(home: string): readonly RemoteEntry[] {
  const text = readIfThere(remotesPath(home))?.toString('utf8')
  if (text === undefined) return []
  const parsed = tryParseJson(text)
  const { version, remotes } = isRecord(parsed) ? parsed : {}
  if (typeof version === 'number' && version > VERSION)
    throw new SavestateError('STORE_NEWER', `${remotesPath(home)} has the version ${version}`, {
      hint: 'It was written by a newer version of Savestate: update.',
    })
  const entries = Array.isArray(remotes) ? remotes.map(parseEntry) : [undefined]
  const known = entries.filter((entry) => entry !== undefined)
  if (known.length === entries.length) return known
  throw new SavestateError('CONFIG_INVALID', `${remotesPath(home)} is malformed`, {
    hint: 'Remove it, then add your remotes again: savestate remote add NAME URL',
  })
}

/** The remote of this name; without a name, the only one. Throws REMOTE_UNKNOWN, and BAD_INPUT with `how` to choose one. */
export function findRemote(
  home: string,
  name?: string,
  { how = 'Choose one with --remote' }: { readonly how?: string } = {},
): RemoteEntry {
  const remotes = readRemotes(home)
  const [first, ...others] = name === undefined ? remotes : remotes.filter((it) => it.name === name)
  if (first !== undefined && others.length === 0) return first
  if (first === undefined) throw unknownRemote(remotes, name)
  throw new SavestateError('BAD_INPUT', 'There are several remotes', {
    hint: `${how}: ${remotes.map((it) => it.name).join(', ')}.`,
  })
}

/** Throws BAD_INPUT if there is one of that name. */
export async function addRemoteEntry(home: string, entry: RemoteEntry): Promise<void> {
  await changeRemotes(home, (remotes) => {
    refuseKnownName(home, entry.name)
    return [...remotes, entry]
  })
}

export function refuseKnownName(home: string, name: string): void {
  if (!readRemotes(home).some((remote) => remote.name === name)) return
  throw new SavestateError('BAD_INPUT', `There is a remote named ${name} already`, {
    hint: `Choose another name, or remove it first: savestate remote remove ${name}`,
  })
}

/** Throws REMOTE_UNKNOWN. */
export async function removeRemoteEntry(home: string, name: string): Promise<RemoteEntry> {
  const removed = findRemote(home, name)
  await changeRemotes(home, (remotes) => remotes.filter((it) => it.name !== name))
  return removed
}

/** Throws REMOTE_UNKNOWN. */
export async function setAutoPush(
  home: string,
  { name, autoPush }: Pick<RemoteEntry, 'name' | 'autoPush'>,
): Promise<RemoteEntry> {
  const entry = { ...findRemote(home, name), autoPush }
  await changeRemotes(home, (remotes) =>
    remotes.map((it) => (it.name === name ? { ...it, autoPush } : it)),
  )
  return entry
}

/** Remembers the id of a remote, so that `status` can say how far behind it is without asking it. */
export async function noteRemoteId(home: string, entry: RemoteEntry, id: string): Promise<void> {
  if (entry.id === id) return
  await changeRemotes(home, (remotes) =>
    remotes.map((it) => (it.name === entry.name && it.url === entry.url ? { ...it, id } : it)),
  )
}

export function viewRemote({ name, url, keyFile, schema, autoPush }: RemoteEntry): RemoteView {
  const { kind, label } = parseRemoteUrl(url)
  return { name, kind, label, keyFile, schema, autoPush }
}

/** Throws BAD_INPUT, without its text: it may be the URL. */
export function refuseBadName(name: string): void {
  if (NAME.test(name)) return
  throw new SavestateError('BAD_INPUT', 'That cannot be the name of a remote', {
    hint: 'Use letters, digits, dots, dashes and underscores.',
  })
}

/** Throws BAD_INPUT. */
export function refuseBadEntry({
  name,
  url,
  schema,
}: Pick<RemoteEntry, 'name' | 'url' | 'schema'>) {
  refuseBadName(name)
  const { kind } = parseRemoteUrl(url)
  if (schema === null) return
  if (kind !== 'postgres')
    throw new SavestateError('BAD_INPUT', 'Only a PostgreSQL remote has a schema')
  if (!SCHEMA.test(schema) || schema.startsWith('pg_'))
    throw new SavestateError('BAD_INPUT', `${JSON.stringify(schema)} cannot be a schema`, {
      hint: 'Use lower-case letters, digits and underscores.',
    })
}

async function changeRemotes(
  home: string,
  change: (remotes: readonly RemoteEntry[]) => readonly RemoteEntry[],
): Promise<void> {
  await withConfigLock(home, () => {
    const content = `${JSON.stringify({ version: VERSION, remotes: change(readRemotes(home)) }, undefined, 2)}\n`
    writeFileAtomically({ path: remotesPath(home), content, durable: true, mode: 0o600 })
  })
}

function parseEntry(value: unknown): RemoteEntry | undefined {
  if (!isRecord(value)) return undefined
  const { name, url, keyFile = null, schema = null, autoPush = false, id = null } = value
  const isText = (it: unknown): it is string => typeof it === 'string'
  const isTextOrNull = (it: unknown): it is string | null => it === null || isText(it)
  if (!isText(name) || !isText(url) || typeof autoPush !== 'boolean') return undefined
  if (!isTextOrNull(keyFile) || !isTextOrNull(schema) || !isTextOrNull(id)) return undefined
  if (keyFile !== null && !isAbsolute(keyFile)) return undefined
  try {
    refuseBadEntry({ name, url, schema })
  } catch (error) {
    if (error instanceof SavestateError) return undefined
    throw error
  }
  return { name, url, keyFile, schema, autoPush, id }
}

function unknownRemote(remotes: readonly RemoteEntry[], name: string | undefined): SavestateError {
  const names = remotes.map((it) => it.name).join(', ')
  if (remotes.length === 0)
    return new SavestateError('REMOTE_UNKNOWN', 'This store has no remote', {
      hint: 'Add one: savestate remote add NAME URL --key-file FILE',
    })
  return new SavestateError(
    'REMOTE_UNKNOWN',
    NAME.test(name ?? '') ? `There is no remote ${name}` : 'That is not the name of a remote',
    {
      hint: `There are: ${names}.`,
    },
  )
}

function remotesPath(home: string): string {
  return join(home, FILE)
}
