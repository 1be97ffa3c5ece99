// Not every user may set setuid, setgid and sticky: the kernel silently drops setgid if the user is not in the file's group, and
// some systems refuse it. We set the rest of the mode and report the difference. A folder of another user keeps its mode, which
// is reported too.
import { fchmodSync, fstatSync } from 'node:fs'
import { type BytePath, hasCode } from '../../model/index.js'
import type { PartialReason } from './ownership.js'

/** A path whose mode or owner could be restored only in part. */
export type PartialMode = {
  readonly path: BytePath
  readonly wanted: number
  readonly mode: number
  readonly why: PartialReason
}

const MODE_BITS = 0o7777
const SPECIAL_BITS = 0o7000

/** Returns undefined if the mode is as wanted, else the actual mode. `change` replaces fchmod if the descriptor cannot do it. */
export function setModeAt(
  fd: number,
  wanted: number,
  change: (mode: number) => void = (mode) => fchmodSync(fd, mode),
): number | undefined {
  // Avoid a needless change: it may be refused, or clear an inherited bit that we cannot set again.
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

/** May fail for another user's file or folder. A file is rewritten in that case; a folder stays as it is. */
function setPlainBits(mode: number, change: (mode: number) => void): void {
  try {
    change(mode)
  } catch (error) {
    if (!hasCode(error, 'EPERM')) throw error
  }
}

/** The mode for mkdir. A folder keeps an inherited bit only if its mode is not changed afterwards. */
export function firstFolderMode(wanted: number): number {
  return (wanted & SPECIAL_BITS) === 0 ? 0o700 : (wanted & ~SPECIAL_BITS) | 0o700
}

export function mayChangeMode({ uid }: { readonly uid: number }): boolean {
  const user = process.geteuid?.()
  return user === undefined || user === 0 || user === uid
}

function modeAt(fd: number): number {
  return fstatSync(fd).mode & MODE_BITS
}
