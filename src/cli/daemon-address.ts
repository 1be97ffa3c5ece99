// Where hooks that speak HTTP find the daemon of the store, for the configuration of an agent.
import { loadDaemon } from '../daemon/index.js'
import { SavestateError, type Store } from '../index.js'
import { startDaemonFor } from './daemon-start.js'

type HookAddress = { readonly url: string; readonly token: string }

/**
 * Starts the daemon: what it has noted then stays. A dry run starts nothing, and has words for what is not noted yet.
 * Throws BAD_INPUT where such hooks would save nothing.
 */
export async function daemonAddress(
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
  const { notedHttpPlace } = await loadDaemon()
  if (isDryRun) {
    const { port = 'PORT', token = 'TOKEN' } = notedHttpPlace(store.home) ?? {}
    return { url: `http://127.0.0.1:${port}`, token }
  }
  const { status } = await startDaemonFor(store.home, { http: true })
  const noted = notedHttpPlace(store.home)
  if (noted?.port === undefined || noted.port !== status['port'])
    throw new SavestateError('DAEMON_FAILED', 'Another program uses the port of the daemon', {
      hint: 'Leave --http out. Or stop that program, run `savestate daemon stop`, and try again.',
    })
  return { url: `http://127.0.0.1:${noted.port}`, token: noted.token }
}
