// The daemon as a process: start, find and end it.
import type { ChildProcess } from 'node:child_process'
import { setTimeout as sleep } from 'node:timers/promises'
import { build, isRecord, programPath, storePath } from '../../base/index.js'
import { daemonLockHolder, openStore, SavestateError } from '../../internal.js'
import { type Address, isOwnSocket, readAddress } from '../address.js'
import type { Line } from '../json-lines.js'
import { exchange } from './request.js'

/** The exit code of `daemon run` if another process is the daemon. */
export const TAKEN = 3

const ANSWER_MS = 2000
const START_MS = 20_000
const START_POLL_MS = 15
const TRY_AGAIN_MS = 200
/** As long as a command waits for a project. */
const STOP_MS = 60_000
const STOP_POLL_MS = 20

export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    // ESRCH, or EPERM: a process of another user is not our daemon.
    return false
  }
}

/** Runs `savestate daemon` in a process that outlives this one. `onExit` is called without a code if it cannot start. */
export function spawnDaemon(
  home: string,
  args: readonly string[],
  onExit: (code: number | null) => void = () => undefined,
): ChildProcess {
  const { spawn } = process.getBuiltinModule('node:child_process')
  // The daemon must not know keys.
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('SAVESTATE_'))
  // Memory counts more than speed in a process that mostly waits: bench/rows/daemon.ts.
  const child = spawn(process.execPath, ['--optimize-for-size', programPath(), 'daemon', ...args], {
    cwd: home,
    env: { ...Object.fromEntries(others), MALLOC_ARENA_MAX: '2', SAVESTATE_HOME: home },
    detached: true,
    stdio: 'ignore',
  })
  child.on('exit', onExit).on('error', () => onExit(null))
  child.unref()
  return child
}

type Found = { readonly address: Address; readonly status: Line | undefined }

/** The address of a daemon and its status; without a status if it does not answer. Undefined if there is none or it has just ended. */
export async function findDaemon(home = storePath()): Promise<Found | undefined> {
  const address = home === undefined ? undefined : readAddress(home)
  if (home === undefined || address === undefined || !isOwnSocket(address.socket, home))
    return undefined
  let status: Line | undefined
  await exchange(address, {
    first: { do: 'status' },
    patienceMs: ANSWER_MS,
    onLine(line) {
      if (isRecord(line['status'])) status = line['status']
    },
  })
  const hasLeft = status === undefined && readAddress(home)?.startedAt !== address.startedAt
  return hasLeft ? undefined : { address, status }
}

/** Returns when it has ended; false if it does not answer. */
function endDaemon(address: Address): Promise<boolean> {
  return exchange(address, {
    first: { do: 'stop' },
    patienceMs: ANSWER_MS,
    onLine: () => undefined,
  })
}

/** Starts the daemon, or finds it: returns when one of this build answers. With `http`, one without a TCP port is replaced. */
export async function startDaemonFor(
  home: string,
  { http = false }: { readonly http?: boolean } = {},
): Promise<{ readonly status: Line; readonly isNew: boolean }> {
  const args = ['run', ...(http ? ['--http'] : [])]
  let deadline = performance.now() + START_MS
  let own: ChildProcess | undefined
  let startedAtMs = 0
  let code: number | null | undefined
  while (performance.now() < deadline) {
    const found = await findDaemon(home)
    if (found?.status !== undefined) {
      const { address, status } = found
      if (address.build === build() && (!http || address.port !== null))
        return { status, isNew: address.pid === own?.pid }
      await endDaemon(address)
      deadline = performance.now() + START_MS
    }
    if (code !== undefined && code !== TAKEN) break
    // Another process holds the lock: it is starting, or it is ending, in which case we try again.
    const isTaken = code === TAKEN && performance.now() - startedAtMs > TRY_AGAIN_MS
    if (own === undefined || isTaken) {
      startedAtMs = performance.now()
      code = undefined
      own = spawnDaemon(home, args, (given) => {
        code = given
      })
    }
    await sleep(START_POLL_MS)
  }
  // Throws if the store cannot be opened, which is then the reason.
  await (
    await openStore({ home, inProcess: true, shortLived: true, encryption: {}, remote: false })
  ).close()
  const holder = await daemonLockHolder({ home })
  if (holder !== undefined) throw unresponsive(holder)
  throw new SavestateError('DAEMON_FAILED', 'The daemon could not be started', {
    hint: 'Commands work without it. `savestate daemon run` shows the error.',
  })
}

/** True if one was running and has ended. Throws DAEMON_FAILED if it does not answer. */
export async function stopDaemon(): Promise<boolean> {
  const deadline = performance.now() + STOP_MS
  for (let wasRunning = false; ; wasRunning = true) {
    const found = await findDaemon()
    if (found?.status !== undefined && (await endDaemon(found.address))) return true
    // The lock decides: the process id may belong to another program by now.
    const holder = await daemonLockHolder()
    if (holder === undefined) return wasRunning
    // A holder without an address is starting, or ends when its work is done.
    if (found !== undefined || performance.now() > deadline) throw unresponsive(holder)
    await sleep(STOP_POLL_MS)
  }
}

/** For a daemon that holds its lock and does not answer. Killing it is safe: the store is always consistent. */
export function unresponsive({ pid }: { readonly pid: number | null }): SavestateError {
  const who = pid === null ? 'The daemon' : `The daemon, process ${pid},`
  const kill = pid === null ? '' : ` If it does not recover, end it with: kill -9 ${pid}`
  return new SavestateError('DAEMON_FAILED', `${who} does not answer`, {
    hint: `Commands work without it.${kill}`,
  })
}
