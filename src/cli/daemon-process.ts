// The daemon as a process: starting one that outlives us, and looking after one that runs.
import type { ChildProcess } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type Address, isOwnSocket, type Line, readAddress, talk } from '../daemon/index.js'

import { homePath } from './home-path.js'

const PROGRAM = './bin.js'
/** Memory counts more than the last bit of speed in a process that mostly waits: bench/rows/daemon.ts. */
const SMALL = { flags: ['--optimize-for-size'], env: { MALLOC_ARENA_MAX: '2' } } as const

export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return !isDead(pid)
  } catch {
    // Somebody else's process is none of ours either.
    return false
  }
}

/** It has ended, and nobody has asked after it yet: in a container that can stay so. */
function isDead(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return stat.slice(stat.lastIndexOf(')') + 2).startsWith('Z')
  } catch {
    // Where there is no /proc nobody can say.
    return false
  }
}

/** `daemon start`, which nobody waits for. */
export function startInBackground(): void {
  spawned(['daemon', 'start'], { home: homePath() })
}

export type ProcessOptions = {
  /** With a TCP port, whether hooks need it or not. */
  readonly http?: boolean
  /** Called if it ends while this process still runs. */
  readonly onExit: (code: number | null) => void
}

/** The daemon itself. */
export function startProcess(home: string, { http = false, onExit }: ProcessOptions): ChildProcess {
  const args = ['daemon', 'run', ...(http ? ['--http'] : [])]
  return spawned(args, { home, cwd: home, ...SMALL }).on('exit', onExit)
}

type Start = {
  readonly home: string | undefined
  readonly cwd?: string
  readonly flags?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
}

function spawned(
  args: readonly string[],
  { home, cwd, flags = [], env = {} }: Start,
): ChildProcess {
  const { spawn } = process.getBuiltinModule('node:child_process')
  // No key reaches a process that stays.
  const others = Object.entries(process.env).filter(([name]) => !name.startsWith('SAVESTATE_'))
  const program = fileURLToPath(new URL(PROGRAM, import.meta.url))
  const child = spawn(process.execPath, [...flags, program, ...args], {
    ...(cwd === undefined ? {} : { cwd }),
    env: {
      ...Object.fromEntries(others),
      ...env,
      ...(home === undefined ? {} : { SAVESTATE_HOME: home }),
    },
    detached: true,
    stdio: 'ignore',
  })
  // Told as an end without a code.
  child.on('error', () => child.emit('exit', null, null))
  child.unref()
  return child
}

export type Found = { readonly address: Address; readonly status: Line | undefined }

/** Where a daemon says it is, and what it answers; no status: it does not answer. One that has just left is not found. */
export async function findDaemon(home = homePath()): Promise<Found | undefined> {
  const address = home === undefined ? undefined : readAddress(home)
  if (home === undefined || address === undefined || !isOwnSocket(address.socket, home))
    return undefined
  let status: Line | undefined
  await talk(address, {
    first: { do: 'status' },
    patienceMs: 2000,
    onLine: ({ status: told }) => {
      if (typeof told === 'object' && told !== null)
        status = Object.fromEntries(Object.entries(told))
    },
  })
  const hasLeft = status === undefined && readAddress(home)?.startedAt !== address.startedAt
  return hasLeft ? undefined : { address, status }
}

/** Returns when it has ended; false if it does not answer. */
export async function endDaemon(address: Address): Promise<boolean> {
  const how = await talk(address, {
    first: { do: 'stop' },
    patienceMs: 2000,
    onLine: () => undefined,
  })
  return how === 'closed'
}
