// When two looks at a path can be taken for the same file (docs/design.md#stat-cache).
import { type BigIntStats, lstatSync } from 'node:fs'
import { fsPath, hasCode } from '../../../model/index.js'
import { ownerNumber } from '../scan/owners.js'

/** What is used of `lstat`. */
export type Stats = Pick<
  BigIntStats,
  | 'size'
  | 'mtimeNs'
  | 'ctimeNs'
  | 'ino'
  | 'mode'
  | 'nlink'
  | 'uid'
  | 'gid'
  | 'isFile'
  | 'isDirectory'
  | 'isSymbolicLink'
>

/** Enough of it to tell whether anything about a path has changed. Its numbers are right in their last 64 bits. */
export type Stamp = {
  size: number
  mtimeNs: bigint
  ctimeNs: bigint
  ino: bigint
}

const NS_PER_S = 1_000_000_000n
// The kernel's clock for files ticks at most every 10 ms; a file system without fractions of a second
// may tick every two.
const FINE_TICK_NS = 100_000_000n
const COARSE_TICK_NS = 2_100_000_000n

export function isSameStamp(known: Stamp, stats: Stats): boolean {
  return (
    isSameNumber(known.ctimeNs, stats.ctimeNs) &&
    isSameNumber(known.mtimeNs, stats.mtimeNs) &&
    known.size === Number(stats.size) &&
    isSameNumber(known.ino, stats.ino)
  )
}

/** A change of the owner sets ctime too, so whoever has another owner has another stamp. */
export function setStamp(node: Stamp & { owner: number }, stats: Stats): void {
  node.size = Number(stats.size)
  node.mtimeNs = wrapped(stats.mtimeNs)
  node.ctimeNs = wrapped(stats.ctimeNs)
  node.ino = wrapped(stats.ino)
  node.owner = ownerNumber(Number(stats.uid), Number(stats.gid))
}

/** The stat cache and other threads have 64 bits of a number, with a sign or without. Node alone tells times after 2262. */
export function isSameNumber(one: bigint, other: bigint): boolean {
  return one === other || wrapped(one) === wrapped(other)
}

function wrapped(value: bigint): bigint {
  return BigInt.asIntN(64, value)
}

/**
 * False if a change made after `readAtMs` could leave the same stamp behind. Every change sets ctime to
 * the time it is made, whatever is done to mtime, so ctime alone decides. Below zero it may be a wrapped one.
 */
export function isSettled(stats: { readonly ctimeNs: bigint }, readAtMs: number): boolean {
  if (stats.ctimeNs < 0n) return false
  const tick = stats.ctimeNs % NS_PER_S === 0n ? COARSE_TICK_NS : FINE_TICK_NS
  return stats.ctimeNs + tick < BigInt(Math.floor(readAtMs)) * 1_000_000n
}

export function stampText(
  stats: Pick<Stats, 'size' | 'mtimeNs' | 'ctimeNs' | 'ino'> | Stamp,
): string {
  return `${stats.size} ${wrapped(stats.mtimeNs)} ${wrapped(stats.ctimeNs)} ${wrapped(stats.ino)}`
}

const LSTAT = { bigint: true, throwIfNoEntry: false } as const

/** Undefined where nothing is; `unreadable` where something may be that cannot be looked at. */
export function lstat(path: string): Stats | 'unreadable' | undefined {
  try {
    return lstatSync(fsPath(path), LSTAT)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR', 'ELOOP')) return undefined
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

/** Errors that speak of this path alone, so that the rest can still be captured. */
export function isUnreadable(error: unknown): boolean {
  return hasCode(
    error,
    'EACCES',
    'EPERM',
    'EIO',
    'ENXIO',
    'ENODEV',
    'EBUSY',
    'EAGAIN',
    'ENAMETOOLONG',
    'ESTALE',
    'ENOTCONN',
    'ETXTBSY',
    'EOVERFLOW',
    'ETIMEDOUT',
    'EREMOTEIO',
    'EINVAL',
    'EISDIR',
  )
}

/** Without the type of the file. */
export function permissionsOf({ mode }: { readonly mode: bigint | number }): number {
  return Number(mode) & 0o7777
}
