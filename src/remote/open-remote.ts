// Chooses the driver by the URL. Nothing is contacted before the first call, and a driver is loaded only when its kind is used.
import { invariant, parseRemoteUrl } from '../model/index.js'
import { RemoteKey } from './codec/index.js'
import { CodedRemote } from './coded-remote.js'
import type { RemoteDriver } from './driver.js'
import type { PostgresClient } from './postgres/index.js'
import type { Remote } from './remote.js'

export type RemoteOptions = {
  readonly url: string
  /** 32 bytes. Absent: the remote is plain. */
  readonly key?: Uint8Array | undefined
  /** PostgreSQL only. Default: `schema` in the URL, or `savestate`. */
  readonly schema?: string | undefined
  /** A pool or a client of `pg`, or of a package with the same `query`. Savestate then opens and closes no connection. */
  readonly client?: PostgresClient | undefined
  /** For a git repository: the driver keeps a copy of it here. One folder for all remotes (`remotes` in the store). */
  readonly folder?: string | undefined
  /** How long a call may take before it fails with REMOTE_UNREACHABLE. Large bodies get more. */
  readonly timeoutMs?: number | undefined
}

export async function openRemote({ key, ...options }: RemoteOptions): Promise<Remote> {
  const remoteKey = key === undefined ? null : new RemoteKey(key)
  return new CodedRemote(await openDriver(options), remoteKey)
}

/** Throws BAD_INPUT for a URL that is not a remote's. */
async function openDriver(options: Omit<RemoteOptions, 'key'>): Promise<RemoteDriver> {
  const { kind, url } = parseRemoteUrl(options.url)
  if (kind === 'postgres') {
    const { openPostgres } = await import('./postgres/index.js')
    return openPostgres({ ...options, url })
  }
  const { folder, timeoutMs } = options
  invariant(folder !== undefined, 'a remote in a git repository needs a folder for its copy')
  const { openGit } = await import('./git/index.js')
  return openGit({ url, folder, timeoutMs })
}
