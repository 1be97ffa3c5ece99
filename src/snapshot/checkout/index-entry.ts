// One entry of git's index as proof that a file is unchanged (docs/first-save.md#proof). Stricter than git, which
// can be told to look at less: every time with its nanoseconds, the inode and the size have to agree.
import type { BigIntStats } from 'node:fs'
import type { ObjectId } from '../../model/index.js'

/** What is handed to who compares: times, device, inode, mode, owner, size and id. */
export const ENTRY_BYTES = 60
const CTIME = 0
const MTIME = 8
const INO = 20
const MODE = 24
const SIZE = 36
const ID = 40
const FLAGS = 60
/** Assumed unchanged, extended (intent to add, skip-worktree), or a stage of a conflict. */
const ODD_FLAGS = 0x8000 | 0x4000 | 0x3000
const TYPE_MASK = 0o170000
const FILE_TYPE = 0o100000
const NS_PER_S = 1_000_000_000n

/** A time as the index has it. */
export type IndexTime = { readonly seconds: number; readonly nanoseconds: number }

export function indexTime(ns: bigint): IndexTime {
  return { seconds: Number(ns / NS_PER_S) >>> 0, nanoseconds: Number(ns % NS_PER_S) }
}

/**
 * Whether an entry can prove anything: a plain file's, without a flag that tells git not to look, and older than the
 * index (git's racy rule; here for both times).
 */
export function isUsable(index: Buffer, entry: number, written: IndexTime): boolean {
  if ((index.readUInt16BE(entry + FLAGS) & ODD_FLAGS) !== 0) return false
  if ((index.readUInt32BE(entry + MODE) & TYPE_MASK) !== FILE_TYPE) return false
  // Where times have no fraction, two changes within a second leave the same stamp.
  if (index.readUInt32BE(entry + CTIME + 4) === 0) return false
  return isBefore(index, entry + CTIME, written) && isBefore(index, entry + MTIME, written)
}

/** Where an entry begins in what holds it. */
export type EntryPlace = { readonly entries: Buffer; readonly at: number }

/** Whether a file looks as it did when git took this entry's id from its content, or wrote its content. */
export function isAsEntry(stats: BigIntStats, { entries, at }: EntryPlace): boolean {
  return (
    stats.isFile() &&
    Number(stats.size) === entries.readUInt32BE(at + SIZE) &&
    Number(BigInt.asUintN(32, stats.ino)) === entries.readUInt32BE(at + INO) &&
    timeAt(entries, at + CTIME) === stats.ctimeNs &&
    timeAt(entries, at + MTIME) === stats.mtimeNs
  )
}

export function idIn({ entries, at }: EntryPlace): ObjectId {
  return entries.hexSlice(at + ID, at + ID + 20) as ObjectId
}

/** Git keeps the seconds in 32 bits; a time that does not fit is never found the same, and the file is read. */
function timeAt(entries: Buffer, at: number): bigint {
  return BigInt(entries.readUInt32BE(at)) * NS_PER_S + BigInt(entries.readUInt32BE(at + 4))
}

function isBefore(index: Buffer, at: number, { seconds, nanoseconds }: IndexTime): boolean {
  const own = index.readUInt32BE(at)
  return own < seconds || (own === seconds && index.readUInt32BE(at + 4) < nanoseconds)
}
