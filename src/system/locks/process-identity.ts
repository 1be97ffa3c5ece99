// Names a process so that its death can be proven later: a process id alone may be somebody else's by then.
import { readFileSync, readlinkSync } from 'node:fs'
import { hostname, uptime } from 'node:os'
import { ifExists } from '../../base/index.js'
import { hasCode } from '../../model/index.js'

export type ProcessIdentity = {
  readonly host: string
  readonly pid: number
  /** Differs after every start of the machine. */
  readonly boot: string
  /** Differs between two processes that had the same id one after the other. */
  readonly startedAt: string
  /** Of process ids: in a container or sandbox the same number is another process. Not told by older programs and other systems. */
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
 * True only on proof: same host, and either another boot, or no such process, or another one with its id, or one that
 * has ended and whose parent has not asked for its exit code yet (a zombie).
 */
export function isSurelyDead(identity: ProcessIdentity): boolean {
  const here = ownIdentity()
  if (identity.host !== here.host) return false
  if (identity.boot !== here.boot) return true
  // From here its process cannot be seen, or another one is seen in its place.
  if (!isOfNamespace(identity, here)) return false
  if (identity.pid === here.pid) return identity.startedAt !== here.startedAt
  if (!exists(identity.pid)) return true
  const found = isProcOurs() ? statOf(identity.pid) : undefined
  return found !== undefined && (found.hasEnded || found.startedAt !== identity.startedAt)
}

/** One that tells of no namespace is by an older program, which knew of none but its own. */
function isOfNamespace({ namespace }: ProcessIdentity, here: ProcessIdentity): boolean {
  return namespace === undefined || namespace === here.namespace
}

function ownNamespace(): { readonly namespace?: string } {
  // As in pid:[4026531836]
  const [namespace] = /[0-9]+/.exec(linkIfThere('/proc/self/ns/pid') ?? '') ?? []
  return namespace === undefined ? {} : { namespace }
}

/** A sandbox with process ids of its own may have been given the /proc of the others. */
function isProcOurs(): boolean {
  return linkIfThere('/proc/self') === String(process.pid)
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

type ProcessStat = {
  /** It is a zombie, or is being removed from the process table. */
  readonly hasEnded: boolean
  /** In ticks since boot, by the kernel. */
  readonly startedAt: string
}

/** Undefined where the system has no such file. */
function statOf(pid: number | 'self'): ProcessStat | undefined {
  const stat = readIfThere(`/proc/${pid}/stat`)
  // The name in parentheses may hold anything, blanks and parentheses too.
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
