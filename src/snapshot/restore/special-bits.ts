// The bits for setuid, setgid and sticky are not everybody's to set: from who is not in the group of a file the kernel
// takes setgid away without a word, and some systems refuse it. The rest of the mode is set all the same, and it is told.
// So is a folder of somebody else, which keeps the mode it has.
import { fchmodSync, fstatSync } from 'node:fs'
import { type BytePath, hasCode } from '../../model/index.js'
import type { PartialReason } from './ownership.js'

/** A path whose mode or owner could be restored only in part. */
export type PartialMode = {
  readonly path: BytePath
  readonly wanted: number
  /** What it is instead. */
  readonly mode: number
  readonly why: PartialReason
}

const MODE_BITS = 0o7777
const SPECIAL_BITS = 0o7000

/** Undefined once the mode is as wanted; else what it is instead. `change` where a descriptor does not do. */
export function setModeAt(
  fd: number,
  wanted: number,
  change: (mode: number) => void = (mode) => fchmodSync(fd, mode),
): number | undefined {
  // Nothing to set that may not be ours to set. A change can take away what was inherited, too, and cannot set it again.
  if (modeAt(fd) === wanted) return undefined
  try {
    change(wanted)
    if ((wanted & SPECIAL_BITS) === 0) return undefined
  } catch (error) {
    if (!hasCode(error, 'EPERM', 'EINVAL')) throw error
    setPlainBits(wanted & ~SPECIAL_BITS, change)
  }
  const mode = modeAt(fd)
  return mode === wanted ? undefined : mode
}

/** Of what belongs to somebody else not even these may be set. A file is written anew then; a folder stays as it is. */
function setPlainBits(mode: number, change: (mode: number) => void): void {
  try {
    change(mode)
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error
  }
}

/** What to make a folder with: one that inherits a bit keeps it only if its mode need not be changed afterwards. */
export function firstFolderMode(wanted: number): number {
  return (wanted & SPECIAL_BITS) === 0 ? 0o700 : (wanted & ~SPECIAL_BITS) | 0o700
}

/** Only the owner may set a mode. */
export function mayChangeMode({ uid }: { readonly uid: number }): boolean {
  const user = process.geteuid?.()
  return user === undefined || user === 0 || user === uid
}

function modeAt(fd: number): number {
  return fstatSync(fd).mode & MODE_BITS
}
