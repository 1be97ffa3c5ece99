// The process of the daemon, from its start to its end.
import { appendFileSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { build, version } from '../../base/index.js'
import { usesHttp } from '../../agents/index.js'
import {
  acquireDaemonLock,
  type DaemonLock,
  openStore,
  type Store,
  type StoreOptions,
} from '../../internal.js'
import { Daemon } from './daemon.js'

const EXIT_CODES = { SIGINT: 130, SIGTERM: 143, SIGHUP: 143 } as const
const BUG = 70
const MAX_LOG_BYTES = 64 << 10

/**
 * Returns when the daemon has ended; `false` if another process is the daemon. With `http`, or if an agent has HTTP
 * hooks, it opens a TCP port.
 */
export async function serve({
  http,
  classes,
}: { readonly http: boolean } & Required<Pick<StoreOptions, 'classes'>>): Promise<boolean> {
  const lock = await acquireDaemonLock()
  if (lock === undefined) return false
  const log = failureLog(lock)
  let store: Store
  try {
    // Without keys, even if the environment has one: callers with a key do their own work.
    store = await openStore({ home: lock.home, classes, encryption: {}, remote: false })
  } catch (error) {
    lock.release()
    throw error
  }
  const daemon = new Daemon({
    lock,
    store,
    log,
    http: http || (await usesHttp(store)),
    build: build(),
    version: version(),
  })
  await daemon.start()
  endOnSignals(daemon)
  process.removeAllListeners('uncaughtException').on('uncaughtException', (error) => {
    log(error)
    process.exit(BUG)
  })
  await daemon.ended
  return true
}

/** The first signal lets the daemon finish its work; a second one ends it at once. That is safe: the store is consistent. */
function endOnSignals(daemon: Daemon): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.removeAllListeners(signal).once(signal, () => {
      process.on(signal, () => process.exit(EXIT_CODES[signal]))
      void daemon.stop()
    })
  }
}

/** Logs failures of the background process. Bounded: when the log is full, its older half is dropped. */
export function failureLog({ folder }: Pick<DaemonLock, 'folder'>): (error: unknown) => void {
  const path = join(folder, 'log')
  return (error) => {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
    const entry = `${new Date().toISOString()} ${text}\n`.slice(0, MAX_LOG_BYTES / 4)
    try {
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0
      if (size + entry.length > MAX_LOG_BYTES)
        writeFileSync(path, readFileSync(path, 'utf8').slice(-MAX_LOG_BYTES / 2), { mode: 0o600 })
      appendFileSync(path, entry, { mode: 0o600 })
    } catch {
      // The disk is full or the store was removed. There is nowhere else to report it.
    }
  }
}
