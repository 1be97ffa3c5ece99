// The URL and token of the daemon for HTTP hooks, for the configuration of an agent.
import { SavestateError, type Store } from '../../internal.js'
import { readHttpAddress } from '../server/http-address.js'
import { startDaemonFor } from './start.js'

type HookAddress = { readonly url: string; readonly token: string }

/**
 * Starts the daemon, which records port and token. A dry run starts nothing and has placeholders for what is not recorded yet.
 * Throws BAD_INPUT if such hooks could not save.
 */
export async function httpHookAddress(
  store: Store,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<HookAddress> {
  if (store.isEncrypted)
    throw new SavestateError(
      'BAD_INPUT',
      'The daemon cannot use an encrypted store: it has no key',
      {
        hint: 'Leave --http out.',
      },
    )
  if (!store.settings.daemon)
    throw new SavestateError(
      'BAD_INPUT',
      'The settings of this store do not let hooks start the daemon',
      {
        hint: 'Leave --http out, or set daemon to true in config.json of the store.',
      },
    )
  if (isDryRun) {
    const { port = 'PORT', token = 'TOKEN' } = readHttpAddress(store.home) ?? {}
    return { url: `http://127.0.0.1:${port}`, token }
  }
  const { status } = await startDaemonFor(store.home, { http: true })
  const recorded = readHttpAddress(store.home)
  if (recorded?.port === undefined || recorded.port !== status['port'])
    throw new SavestateError('DAEMON_FAILED', 'Another program uses the port of the daemon', {
      hint: 'Leave --http out. Or stop that program, run `savestate daemon stop`, and try again.',
    })
  return { url: `http://127.0.0.1:${recorded.port}`, token: recorded.token }
}
