// The daemon for agents' hooks: a hook that found none starts one, and the configuration of HTTP hooks has its address.
import { setTimeout as sleep } from 'node:timers/promises'
import type { HookRequest } from '../../agents/index.js'
import { daemonLockHolder, SavestateError, type Store } from '../../internal.js'
import { readAddress } from '../address.js'
import { bypassesDaemon } from '../environment.js'
import { readHttpAddress } from '../server/http-access.js'
import { spawnDaemon, startDaemonFor } from './daemon-process.js'

/** HTTP hooks follow this event, and fail silently without a daemon, so wait for the start: docs/guide/coding-agents.md. */
const WAITED_FOR = { agent: 'claude', eventName: 'SessionStart' }
const WAIT_MS = 2000
const POLL_MS = 10

/** Starts a daemon for the next hook. Nothing depends on it. */
export async function startForHooks(
  openStore: () => Promise<Store>,
  { agent, eventName }: Pick<HookRequest, 'agent' | 'eventName'>,
): Promise<void> {
  if (bypassesDaemon(process.env)) return
  // The hook has reported a store that could not be opened.
  const store = await openStore().catch(() => undefined)
  if (store === undefined || store.isEncrypted || !isWanted(store)) return
  const { home } = store
  const address = readAddress(home)
  // One that does not answer still holds the lock. Its process id may belong to another program by now.
  if (address !== undefined && (await daemonLockHolder({ home })) !== undefined) return
  let isOver = false
  spawnDaemon(home, ['run'], () => {
    isOver = true
  })
  if (agent !== WAITED_FOR.agent || eventName !== WAITED_FOR.eventName) return
  const deadline = performance.now() + WAIT_MS
  const isStarting = () => !isOver && readAddress(home)?.startedAt === address?.startedAt
  while (isStarting() && performance.now() < deadline) await sleep(POLL_MS)
}

function isWanted(store: Store): boolean {
  try {
    return store.settings.daemon
  } catch (error) {
    if (!(error instanceof SavestateError)) throw error
    // The hook itself reports settings that cannot be read.
    return false
  }
}

/**
 * The URL and token for HTTP hooks. Starts the daemon, which records port and token. A dry run starts nothing and has
 * placeholders for what is not recorded yet. Throws BAD_INPUT if such hooks could not save.
 */
export async function httpHookAddress(
  store: Store,
  { isDryRun }: { readonly isDryRun: boolean },
): Promise<{ readonly url: string; readonly token: string }> {
  if (store.isEncrypted)
    throw new SavestateError(
      'BAD_INPUT',
      'The daemon cannot use an encrypted store: it has no key',
      { hint: 'Leave --http out.' },
    )
  if (!store.settings.daemon)
    throw new SavestateError(
      'BAD_INPUT',
      'The settings of this store do not let hooks start the daemon',
      { hint: 'Leave --http out, or set daemon to true in config.json of the store.' },
    )
  const started = isDryRun ? undefined : await startDaemonFor(store.home, { http: true })
  const { port = 'PORT', token = 'TOKEN' } = readHttpAddress(store.home) ?? {}
  if (started !== undefined && port !== started.status['port'])
    throw new SavestateError('DAEMON_FAILED', 'Another program uses the port of the daemon', {
      hint: 'Leave --http out. Or stop that program, run `savestate daemon stop`, and try again.',
    })
  return { url: `http://127.0.0.1:${port}`, token }
}
