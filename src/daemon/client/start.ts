// Starts the daemon, or finds it: returns when one of this build answers.
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { build } from '../../base/index.js'
import { daemonLockHolder, openStore, SavestateError } from '../../internal.js'
import type { Line } from '../json-lines.js'
import { endDaemon, findDaemon, startProcess } from './process.js'
import { unresponsive } from './stop.js'

const PATIENCE_MS = 20_000
const POLL_MS = 15
const TRY_AGAIN_MS = 200
/** The exit code of `daemon run` if another process is the daemon. */
export const TAKEN = 3

export type Started = { readonly status: Line; readonly isNew: boolean }

/** With `http`, a daemon without a TCP port is replaced. */
export async function startDaemonFor(
  home: string,
  { http = false }: { readonly http?: boolean } = {},
): Promise<Started> {
  let deadline = performance.now() + PATIENCE_MS
  let end: { readonly code: number | null } | undefined
  let own: ChildProcess | undefined
  let startedAtMs = 0
  while (performance.now() < deadline) {
    const found = await findDaemon(home)
    if (found?.status !== undefined) {
      const isAsWanted = !http || found.address.port !== null
      if (found.address.build === build() && isAsWanted) {
        const isNew = found.address.pid === own?.pid
        // The other daemon was first. Ours would exit too, unless the other one ends before it notices.
        if (!isNew) own?.kill('SIGKILL')
        return { status: found.status, isNew }
      }
      await endDaemon(found.address)
      deadline = performance.now() + PATIENCE_MS
    }
    // Another process holds the lock: it is starting, or it is ending, in which case we try again.
    const isTaken = end?.code === TAKEN && performance.now() - startedAtMs > TRY_AGAIN_MS
    if (end !== undefined && end.code !== TAKEN) break
    if (own === undefined || isTaken) {
      startedAtMs = performance.now()
      end = undefined
      own = startProcess(home, {
        http,
        onExit: (code) => {
          end = { code }
        },
      })
    }
    await sleep(POLL_MS)
  }
  throw await startFault(home)
}

/** Reports why the store cannot be opened, if that is the reason. */
async function startFault(home: string): Promise<SavestateError> {
  const store = await openStore({ home, inProcess: true, shortLived: true, encryption: {} })
  await store.close()
  const holder = await daemonLockHolder({ home })
  if (holder !== undefined) return unresponsive(holder)
  return new SavestateError('DAEMON_FAILED', 'The daemon could not be started', {
    hint: 'Commands work without it. `savestate daemon run` shows the error.',
  })
}
