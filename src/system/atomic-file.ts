// Writes files atomically: a reader sees the old or the new content, even after a power failure.
import { closeSync, fchmodSync, fsyncSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'

export type WriteOptions = {
  readonly path: string
  /** A file on the same disk; by default one beside `path` that no other process uses. */
  readonly temporary?: string
  readonly content: string | Uint8Array
  readonly durable: boolean
  /** Permissions; by default only the user may read and write the file. */
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
    // On a full disk a partial file would take the little space that is left.
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
    // The umask restricts the mode passed to open, but not the mode passed to fchmod.
    if (mode !== undefined) fchmodSync(fd, mode)
    writeAll(fd, bytes)
    if (durable) fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/** Flushes the entries of a folder to disk. */
export function syncFolder(path: string | Buffer): void {
  // Windows cannot open a folder for syncing. NTFS journals its entries.
  if (process.platform === 'win32') return
  syncFile(path)
}

/** Flushes a file that another process has written. */
export function syncFile(path: string | Buffer): void {
  const fd = openSync(path, 'r')
  try {
    fsyncSync(fd)
  } finally {
    closeSync(fd)
  }
}

/**
 * `writeSync` may write fewer bytes than it was given, for example on a disk that is nearly full. `at` is the offset in the
 * file; by default the current position.
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
