// The daemon as a process: start one that outlives this one, find one that runs, end it.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { programPath, storePath } from '../../base/index.js'
import { type Address, isOwnSocket, readAddress } from '../address.js'
import type { Line } from '../json-lines.js'
import { exchange } from './connection.js'

/** Memory counts more than speed in a process that mostly waits: bench/rows/daemon.ts. */
const SMALL = { flags: ['--optimize-for-size'], env: { MALLOC_ARENA_MAX: '2' } } as const

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isZombie(pid)
  } catch {
    // ESRCH, or EPERM: a process of another user is not our daemon.
    return false
  }
}

/** It has ended, and its parent has not waited for it: in a container that can stay so. */
function isZombie(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    // There is no /proc.
    return false
  }
}

/** Runs `daemon start` without waiting for it. */
export function startInBackground(): void {
  spawnProgram(['daemon', 'start'], { home: storePath() })
}

type ProcessOptions = {
  /** Open a TCP port even if no hooks need it. */
  readonly http?: boolean
  /** Called if it ends while this process still runs. */
  readonly onExit: (code: number | null) => void
}

/** The daemon itself. */
export function startProcess(home: string, { http = false, onExit }: ProcessOptions): ChildProcess {
  const args = ['daemon', 'run', ...(http ? ['--http'] : [])]
  return spawnProgram(args, { home, cwd: home, ...SMALL }).on('exit', onExit)
}

type Start = {
  readonly home: string | undefined
  readonly cwd?: string
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

function spawnProgram(
  args: readonly string[],
  { home, cwd, flags = [], env = {} }: Start,
): ChildProcess {
  const { spawn } = process.getBuiltinModule('node:child_process')
  // The daemon must not know keys.
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('SAVESTATE_'))
  const child = spawn(process.execPath, [...flags, programPath(), ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: {
      ...Object.fromEntries(others),
      ...env,
      ...(home === undefined ? {} : { SAVESTATE_HOME: home }),
    },
    detached: true,
    stdio: 'ignore',
  })
  // Report a failed start as an end without a code.
  child.on('error', () => child.emit('exit', null, null))
  child.unref()
  return child
}

export type Found = { readonly address: Address; readonly status: Line | undefined }

/** The address of a daemon and its status; without a status if it does not answer. Undefined if there is none or it has just ended. */
export async function findDaemon(home = storePath()): Promise<Found | undefined> {
  const address = home === undefined ? undefined : readAddress(home)
  if (home === undefined || address === undefined || !isOwnSocket(address.socket, home))
    return undefined
  let status: Line | undefined
  await exchange(address, {
    first: { do: 'status' },
    patienceMs: 2000,
    onLine: ({ status: given }) => {
      if (typeof given === 'object' && given !== null)
        status = Object.fromEntries(Object.entries(given))
    },
  })
  const hasLeft = status === undefined && readAddress(home)?.startedAt !== address.startedAt
  return hasLeft ? undefined : { address, status }
}

/** Returns when it has ended; false if it does not answer. */
export async function endDaemon(address: Address): Promise<boolean> {
  const how = await exchange(address, {
    first: { do: 'stop' },
    patienceMs: 2000,
    onLine: () => undefined,
  })
  return how === 'closed'
}
