// A hook that had to do its work itself starts the daemon for the next one. Nothing depends on that.
import { setTimeout as sleep } from 'node:timers/promises'
import type { HookRequest } from '../adapters/index.js'
import { type Address, readAddress } from '../daemon/index.js'
import { daemonPlaceHolder, type Store } from '../index.js'
import type { Request } from './command.js'
import { isThere, startProcess } from './daemon-process.js'
import { hasOwnVariable } from './forward.js'

/** Hooks that speak HTTP follow, and nobody notices if they reach no one: docs/agents.md. */
const WAITED_FOR = { agent: 'claude', eventName: 'SessionStart' }
const WAIT_MS = 2000
const LOOK_EVERY_MS = 10

export async function startForHooks(
  request: Request,
  { agent, eventName }: Pick<HookRequest, 'agent' | 'eventName'>,
): Promise<void> {
  // It would not be served by it: a key is not the daemon's to know.
  if (hasOwnVariable(process.env)) return
  // The same store that the hook has worked with: that it could not be opened has been told by then.
  const store = await request.store().catch(() => undefined)
  if (store === undefined || store.isEncrypted || !isWanted(store)) return
  const address = readAddress(store.home)
  if (address !== undefined && (await hasPlace(address, store))) return
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
    await sleep(LOOK_EVERY_MS)
}

/** One of another build is replaced by who forwards; one that does not answer has the place. */
async function hasPlace({ pid }: Address, { home }: Store): Promise<boolean> {
  // A dead one's number may be another program's by now, and only the lock tells.
  return isThere(pid) && (await daemonPlaceHolder({ home })) !== undefined
}

function isWanted(store: Store): boolean {
  try {
    return store.settings.daemon
  } catch {
    // Settings that cannot be read are told of by the hook's own work.
    return false
  }
}
