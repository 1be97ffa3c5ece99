// Identifies a process so that its death can be proven later. A process id alone may be reused.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { ifExists } from '../../base/index.js'
import { hasCode } from '../../model/index.js'

export type ProcessIdentity = {
  readonly host: string
  readonly pid: number
  /** Differs after every boot. */
  readonly boot: string
  /** Differs between two processes that had the same id. */
  readonly startedAt: string
  /** The PID namespace: in a container the same number is another process. Absent on other systems and in old records. */
  readonly namespace?: string
}

let own: ProcessIdentity | undefined

export function ownIdentity(): ProcessIdentity {
  own ??= {
    host: hostname(),
    pid: process.pid,
    boot: bootId(),
    startedAt:
      statOf('self')?.startedAt ?? String(Math.round(Date.now() - process.uptime() * 1000)),
    ...ownNamespace(),
  }
  return own
}

export function isOwnIdentity(identity: ProcessIdentity): boolean {
  const here = ownIdentity()
  const isSame = (['host', 'boot', 'pid', 'startedAt'] as const).every(
    (key) => identity[key] === here[key],
  )
  return isSame && isOfNamespace(identity, here)
}

/**
 * True only on proof: same host, and either another boot, no process with this id, a different process with this id, or a
 * zombie.
 */
export function isSurelyDead(identity: ProcessIdentity): boolean {
  const here = ownIdentity()
  if (identity.host !== here.host) return false
  if (identity.boot !== here.boot) return true
  // From another namespace the process is not visible, or a different one has its number.
  if (!isOfNamespace(identity, here)) return false
  if (identity.pid === here.pid) return identity.startedAt !== here.startedAt
  if (!exists(identity.pid)) return true
  const found = isProcOurs() ? statOf(identity.pid) : undefined
  return found !== undefined && (found.hasEnded || found.startedAt !== identity.startedAt)
}

/** Old records have no namespace; they were written in the only one that existed. */
function isOfNamespace({ namespace }: ProcessIdentity, here: ProcessIdentity): boolean {
  return namespace === undefined || namespace === here.namespace
}

function ownNamespace(): { readonly namespace?: string } {
  // The link reads pid:[4026531836].
  const [namespace] = /[0-9]+/.exec(linkIfThere('/proc/self/ns/pid') ?? '') ?? []
  return namespace === undefined ? {} : { namespace }
}

/** A sandbox with its own PID namespace may have mounted the host's /proc. */
function isProcOurs(): boolean {
  return linkIfThere('/proc/self') === String(process.pid)
}

function exists(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    // EPERM: the process exists and belongs to another user.
    return !hasCode(error, 'ESRCH')
  }
}

type ProcessStat = {
  /** A zombie, or about to be removed from the process table. */
  readonly hasEnded: boolean
  /** In clock ticks since boot. */
  readonly startedAt: string
}

/** Undefined if the system has no /proc. */
function statOf(pid: number | 'self'): ProcessStat | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`)
  // The process name in parentheses may contain blanks and parentheses.
  const fields = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [state = '', startedAt] = [fields?.[0], fields?.[19]]
  return startedAt === undefined ? undefined : { hasEnded: /^[ZXx]$/.test(state), startedAt }
}

function bootId(): string {
  const id = readIfThere('/proc/sys/kernel/random/boot_id')
  return id?.trim() ?? String(Math.round((Date.now() - uptime() * 1000) / 10_000))
}

const UNREADABLE = ['ESRCH', 'EACCES']

function readIfThere(path: string): string | undefined {
  return ifExists(() => readFileSync(path, 'utf8'), ...UNREADABLE)
}

function linkIfThere(path: string): string | undefined {
  return ifExists(() => readlinkSync(path), ...UNREADABLE)
}
