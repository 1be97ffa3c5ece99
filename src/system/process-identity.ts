// Names a process so that its death can be proven later: a process id alone may be somebody else's by then.
import { readFileSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { hasCode } from '../model/index.js'

export type ProcessIdentity = {
  readonly host: string
  readonly pid: number
  /** Differs after every start of the machine. */
  readonly boot: string
  /** Differs between two processes that had the same id one after the other. */
  readonly startedAt: string
}

let own: ProcessIdentity | undefined

export function ownIdentity(): ProcessIdentity {
  own ??= {
    host: hostname(),
    pid: process.pid,
    boot: bootId(),
    startedAt: startOf(process.pid) ?? String(Math.round(Date.now() - process.uptime() * 1000)),
  }
  return own
}

/** True only on proof: same host, and either another boot, or no such process, or another one with its id. */
export function isSurelyDead(identity: ProcessIdentity): boolean {
  const here = ownIdentity()
  if (identity.host !== here.host) return false
  if (identity.boot !== here.boot) return true
  if (identity.pid === here.pid) return identity.startedAt !== here.startedAt
  if (!exists(identity.pid)) return true
  const startedAt = startOf(identity.pid)
  return startedAt !== undefined && startedAt !== identity.startedAt
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // Somebody else's process is a process too.
    return !hasCode(error, 'ESRCH')
  }
}

/** The kernel's start time of a process, in ticks since boot; undefined where the system has no such file. */
function startOf(pid: number): string | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`)
  // The name in parentheses may hold anything, blanks and parentheses too.
  return stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
}

function bootId(): string {
  const id = readIfThere('/proc/sys/kernel/random/boot_id')
  return id?.trim() ?? String(Math.round((Date.now() - uptime() * 1000) / 10_000))
}

function readIfThere(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ESRCH', 'EACCES', 'ENOTDIR')) return undefined
    throw error
  }
}
