// The remote that a store is opened with (mode wait). Its code, and the package `pg`, are loaded only if there is one.
import { parseKey, readEnvironmentKey } from '../../engine/index.js'
import { parseRemoteUrl, SavestateError } from '../../model/index.js'
import type { PostgresClient, Remote } from '../../remote/index.js'
import type { KeyInput } from './encryption-keys.js'
import { type Known, refuseUnknown } from './validate-options.js'

export type RemoteInput = {
  /** `postgres://user@host/database`. It may contain a password; otherwise PGPASSWORD or PGPASSFILE does. */
  readonly url: string
  /** Encrypts everything before it leaves this machine. Needed if the remote was created with a key. */
  readonly key?: KeyInput
  /** The schema of the tables. Default: savestate. */
  readonly schema?: string
  /** A pool or client of `pg`, or of a package with the same `query`; the caller closes it. Default: one connection per store. */
  readonly client?: PostgresClient
}

export const REMOTE_OPTIONS: Known<RemoteInput> = {
  url: true,
  key: true,
  schema: true,
  client: true,
}

/** A call is tried again for some seconds, so one that hangs must end before. */
const TIMEOUT_MS = 4000

type Environment = Readonly<Record<string, string | undefined>>

/** Contacts nothing. Undefined if there is none. Throws BAD_INPUT, KEY_UNUSABLE. */
export async function openGivenRemote(
  given: string | RemoteInput | false | undefined,
  { home, environment }: { readonly home: string; readonly environment: Environment },
): Promise<Remote | undefined> {
  const url = given === undefined ? environment['SAVESTATE_REMOTE'] : given
  if (url === undefined || url === false) return undefined
  const input: RemoteInput = typeof url === 'string' ? { url } : url
  refuseUnknown('remote of openStore', input, REMOTE_OPTIONS)
  if (parseRemoteUrl(input.url).kind !== 'postgres')
    throw new SavestateError('BAD_INPUT', 'A store can only be opened with a PostgreSQL remote', {
      hint: 'Sessions in a git repository are pushed and pulled: `savestate remote add`.',
    })
  const key =
    input.key === undefined
      ? readEnvironmentKey('SAVESTATE_REMOTE_KEY', { home, environment })
      : parseKey(input.key, 'remote.key')
  const { openRemote } = await import('../../remote/index.js')
  return openRemote({ ...input, key, timeoutMs: TIMEOUT_MS })
}
