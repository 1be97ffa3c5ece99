// Decides when two stats of a path mean the same, unchanged file (docs/internals/design.md#stat-cache).
import { type BigIntStats, lstatSync } from 'node:fs'
import { fsPath, hasCode } from '../../../model/index.js'
import { ownerNumber } from '../scan/owners.js'

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

/** The part of a stat that shows every change. Only the low 64 bits of its numbers are valid. */
export type Stamp = {
  size: number
  mtimeNs: bigint
  ctimeNs: bigint
  ino: bigint
}

const NS_PER_S = 1_000_000_000n
// The kernel's file clock ticks at least every 10 ms; a file system without fractions of a second may tick every 2 s.
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

/** A chown sets ctime, so the owner cannot change without the stamp. */
export function setStamp(
  node: Stamp & { owner: number },
  stats: Pick<Stats, 'size' | 'mtimeNs' | 'ctimeNs' | 'ino' | 'uid' | 'gid'>,
): void {
  node.size = Number(stats.size)
  node.mtimeNs = toInt64(stats.mtimeNs)
  node.ctimeNs = toInt64(stats.ctimeNs)
  node.ino = toInt64(stats.ino)
  node.owner = ownerNumber(Number(stats.uid), Number(stats.gid))
}

/** Compares 64 bits, signed or unsigned, as the stat cache and other threads store them. Times after 2262 exceed them. */
export function isSameNumber(one: bigint, other: bigint): boolean {
  return one === other || toInt64(one) === toInt64(other)
}

function toInt64(value: bigint): bigint {
  return BigInt.asIntN(64, value)
}

/**
 * False if a change after `readAtMs` could produce the same stamp. Every change sets ctime to the current time, and no
 * program can set it, so ctime alone decides. A negative ctime may have wrapped.
 */
export function isStampStable(stats: { readonly ctimeNs: bigint }, readAtMs: number): boolean {
  if (stats.ctimeNs < 0n) return false
  const tick = stats.ctimeNs % NS_PER_S === 0n ? COARSE_TICK_NS : FINE_TICK_NS
  return stats.ctimeNs + tick < BigInt(Math.floor(readAtMs)) * 1_000_000n
}

export function stampText(
  stats: Pick<Stats, 'size' | 'mtimeNs' | 'ctimeNs' | 'ino'> | Stamp,
): string {
  return `${stats.size} ${toInt64(stats.mtimeNs)} ${toInt64(stats.ctimeNs)} ${toInt64(stats.ino)}`
}

const LSTAT = { bigint: true, throwIfNoEntry: false } as const

/** Undefined if the path does not exist; `unreadable` if it may exist but lstat fails. */
export function lstat(path: string): Stats | 'unreadable' | undefined {
  try {
    return lstatSync(fsPath(path), LSTAT)
  } catch (error) {
    if (hasCode(error, 'ENOTDIR', 'ELOOP')) return undefined
    if (isUnreadable(error)) return 'unreadable'
    throw error
  }
}

/** Errors that concern this path alone, so that the rest can still be captured. */
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

/** Undefined for what is neither a file nor a link. */
export function contentKind(stats: Stats): 'file' | 'link' | undefined {
  return stats.isFile() ? 'file' : stats.isSymbolicLink() ? 'link' : undefined
}

/** The mode without the file type. */
export function permissionsOf({ mode }: { readonly mode: bigint | number }): number {
  return Number(mode) & 0o7777
}
