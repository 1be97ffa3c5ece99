// Opens a remote of remotes.json for one operation.
import { join } from 'node:path'
import type { Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'
import { parseKey, readKeyFile } from '../store/key-file.js'
import { findRemote, noteRemoteId, type RemoteEntry } from './remotes-file.js'

export type NamedRemote = {
  readonly entry: RemoteEntry
  readonly remote: Remote
}

/** Contacts the remote. Without a name, it is the only one. Throws REMOTE_UNKNOWN, KEY_UNUSABLE, and the errors of a remote. */
export async function withRemote<Result>(
  { home }: Pick<StoreContext, 'home'>,
  name: string | undefined,
  work: (named: NamedRemote) => Promise<Result>,
): Promise<Result> {
  const entry = findRemote(home, name)
  const remote = await openEntry(home, entry)
  try {
    await noteRemoteId(home, entry, await remote.id())
    return await work({ entry, remote })
  } finally {
    await remote.close()
  }
}

/** Creates the tables or refs; the remote has no id before. */
export async function initEntry(home: string, entry: RemoteEntry): Promise<void> {
  const remote = await openEntry(home, entry)
  try {
    await remote.init()
    await noteRemoteId(home, entry, await remote.id())
  } finally {
    await remote.close()
  }
}

/** Contacts nothing yet. Throws KEY_UNUSABLE. */
export async function openEntry(
  home: string,
  { url, keyFile, schema }: RemoteEntry,
): Promise<Remote> {
  const key = keyFile === null ? undefined : parseKey(readKeyFile(keyFile, { home }), keyFile)
  // Most stores have no remote.
  const { openRemote } = await import('../../remote/index.js')
  return openRemote({ url, key, schema: schema ?? undefined, folder: copiesFolder(home) })
}

/** Copies of git repositories: derived, may be deleted at any time. */
export function copiesFolder(home: string): string {
  return join(home, 'remotes')
}
