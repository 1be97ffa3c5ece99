// Starts the daemon, or finds it: returns when one of this build answers.
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { daemonPlaceHolder, openStore, SavestateError } from '../index.js'
import type { Line } from '../daemon/index.js'
import { endDaemon, findDaemon, startProcess } from './daemon-process.js'
import { TAKEN } from './daemon-run.js'
import { unresponsive } from './unresponsive.js'
import { build } from './version.js'

const PATIENCE_MS = 20_000
const LOOK_EVERY_MS = 15
const TRY_AGAIN_MS = 200

export type Started = { readonly status: Line; readonly isNew: boolean }

/** With `http` it has a TCP port: one that runs without is replaced. */
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
        // It would give way by itself, but if the other one ended first it would stay, and nobody has asked for it.
        if (!isNew) own?.kill('SIGKILL')
        return { status: found.status, isNew }
      }
      await endDaemon(found.address)
      // However long it took to finish.
      deadline = performance.now() + PATIENCE_MS
    }
    // Another one has the place: it is about to begin, or about to end, in which case we try again.
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
    await sleep(LOOK_EVERY_MS)
  }
  throw await startFault(home)
}

/** What keeps the store from being opened is the better answer, if there is something. */
async function startFault(home: string): Promise<SavestateError> {
  const store = await openStore({ home, mayBlock: true, encryption: {} })
  await store.close()
  const holder = await daemonPlaceHolder({ home })
  if (holder !== undefined) return unresponsive(holder)
  return new SavestateError('DAEMON_FAILED', 'The daemon could not be started', {
    hint: 'Commands work without it. `savestate daemon run` shows the error.',
  })
}
