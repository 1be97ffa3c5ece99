// Files that are either the old or the new content, never half, also after a power cut.
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

export type WriteOptions = {
  readonly path: string
  /** A file on the same disk; by default one beside `path` that no other process uses. */
  readonly temporary?: string
  readonly content: string | Uint8Array
  readonly durable: boolean
  /** Its permissions; by default only the user may read and write it. */
  readonly mode?: number
}

let written = 0

export function writeFileAtomically({ path, content, durable, mode, ...rest }: WriteOptions): void {
  const temporary = rest.temporary ?? `${path}.${process.pid}-${++written}.tmp`
  const bytes = typeof content === 'string' ? Buffer.from(content, 'utf8') : content
  try {
    writeWhole(temporary, bytes, { durable, mode })
    renameSync(temporary, path)
  } catch (error) {
    // On a full disk half a file would take the little room that is left.
    rmSync(temporary, { force: true })
    throw error
  }
  if (durable) syncFolder(dirname(path))
}

function writeWhole(
  path: string,
  bytes: Uint8Array,
  { durable, mode }: { readonly durable: boolean; readonly mode: number | undefined },
): void {
  const fd = openSync(path, 'w', 0o600)
  try {
    // The umask restricts the mode of open, and not that of fchmod.
    if (mode !== undefined) fchmodSync(fd, mode)
    writeAll(fd, bytes)
    if (durable) fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Makes the names in a folder durable. */
export function syncFolder(path: string | Buffer): void {
  // Windows cannot open a folder, and keeps its names durable by itself.
  if (process.platform === 'win32') return
  syncFile(path)
}

/** Makes durable what a file holds that somebody else has written. */
export function syncFile(path: string | Buffer): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * `writeSync` may write less than it was given: on a disk that is nearly full, what still fits. `at` is a place in
 * the file; by default where the last write ended.
 */
export function writeAll(fd: number, bytes: Uint8Array, at?: number): void {
  for (let done = 0; done < bytes.length; )
    done += writeSync(
      fd,
      bytes,
      done,
      bytes.length - done,
      at === undefined ? undefined : at + done,
    )
}
