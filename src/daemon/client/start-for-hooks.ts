// A hook that found no daemon starts one for the next hook. Nothing depends on it.
import { setTimeout as sleep } from 'node:timers/promises'
import type { HookRequest } from '../../agents/index.js'
import { daemonLockHolder, type Store } from '../../internal.js'
import { type Address, readAddress } from '../address.js'
import { bypassesDaemon } from '../environment.js'
import { isRunning, startProcess } from './process.js'

/** HTTP hooks follow this event, and fail silently without a daemon, so wait for the start: docs/guide/coding-agents.md. */
const WAITED_FOR = { agent: 'claude', eventName: 'SessionStart' }
const WAIT_MS = 2000
const POLL_MS = 10

export async function startForHooks(
  openStore: () => Promise<Store>,
  { agent, eventName }: Pick<HookRequest, 'agent' | 'eventName'>,
): Promise<void> {
  if (bypassesDaemon(process.env)) return
  // The hook has reported a store that could not be opened.
  const store = await openStore().catch(() => undefined)
  if (store === undefined || store.isEncrypted || !isWanted(store)) return
  const address = readAddress(store.home)
  if (address !== undefined && (await holdsLock(address, store))) return
  let isOver = false
  startProcess(store.home, {
    onExit: () => {
      isOver = true
    },
  })
  if (agent !== WAITED_FOR.agent || eventName !== WAITED_FOR.eventName) return
  const deadline = performance.now() + WAIT_MS
  while (
    !isOver &&
    readAddress(store.home)?.startedAt === address?.startedAt &&
    performance.now() < deadline
  )
    await sleep(POLL_MS)
}

/** A daemon of another build was replaced before; one that does not answer still holds the lock. */
async function holdsLock({ pid }: Address, { home }: Store): Promise<boolean> {
  // Another program may have the process id of a dead daemon by now. Only the lock is reliable.
  return isRunning(pid) && (await daemonLockHolder({ home })) !== undefined
}

function isWanted(store: Store): boolean {
  try {
    return store.settings.daemon
  } catch {
    // The hook itself reports settings that cannot be read.
    return false
  }
}
