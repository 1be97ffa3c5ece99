// A lock that cannot outlive its owner: SQLite's lock on an empty database file, which the kernel
// drops when the process dies. A lock file would have to be judged stale, and that judgement has
// kept other tools from saving for weeks.
import { readFile } from 'node:fs/promises'
import { closeSync, constants, openSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from '../../model/index.js'
import { writeAll } from '../atomic-file.js'
import { type LockDatabase, openLockDatabase } from '../sqlite/sqlite.js'
import { isBusy } from '../sqlite/sqlite-errors.js'

export type Lock = { release(): void }

/** Who holds a lock, for a message only: the lock itself does not depend on it. */
export type LockOwner = { readonly pid: number; readonly since: string; readonly purpose: string }

/** The lock, or undefined if it was still taken after `waitMs`. Waiting does not block the event loop. */
export async function takeLock(
  path: string,
  {
    waitMs,
    purpose,
    signal,
  }: {
    readonly waitMs: number
    readonly purpose: string
    /** Ends the wait; then it throws the reason. */
    readonly signal?: AbortSignal | undefined
  },
): Promise<Lock | undefined> {
  // By a clock that nobody sets.
  const deadline = performance.now() + waitMs
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const lock = tryLock(path, purpose)
    if (lock !== undefined) return lock
    if (performance.now() >= deadline) return undefined
    signal?.throwIfAborted()
    await sleep(pauseMs)
  }
}

export async function readLockOwner(path: string): Promise<LockOwner | undefined> {
  const text = await readFile(`${path}.owner`, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  if (text === undefined || !text.endsWith('\n')) return undefined
  const [pid, since, purpose] = text.trimEnd().split('\n')
  return { pid: Number(pid), since: since ?? '', purpose: purpose ?? '' }
}

type LockFile = {
  readonly database: LockDatabase
  readonly inode: bigint
  isHeld: boolean
  /** The file that names the owner, once it was written. */
  owner: number | undefined
}

/** Free locks that were used last, kept open: opening one takes longer than taking it. */
const kept = new Map<string, LockFile>()
const MAX_KEPT = 8

function tryLock(path: string, purpose: string): Lock | undefined {
  let file: LockFile
  try {
    file = openLockFile(path)
    // One connection would let this process in a second time.
    if (file.isHeld) return undefined
    file.database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    if (isBusy(error)) return undefined
    throw error
  }
  file.isHeld = true
  const release = () => {
    file.isHeld = false
    file.database.exec('ROLLBACK')
    if (kept.get(path) !== file) close(file)
  }
  try {
    noteOwner(path, file, purpose)
  } catch (error) {
    release()
    throw error
  }
  return { release }
}

function openLockFile(path: string): LockFile {
  const known = kept.get(path)
  // A lock on a file that was removed keeps nobody out.
  if (known !== undefined && known.inode === inodeOf(path)) return known
  kept.delete(path)
  if (known?.isHeld === false) close(known)
  const database = openWithoutJournal(path)
  const file = { database, inode: inodeOf(path), isHeld: false, owner: undefined }
  kept.set(path, file)
  for (const [oldest, other] of kept) {
    if (kept.size <= MAX_KEPT) break
    if (other.isHeld || other === file) continue
    close(other)
    kept.delete(oldest)
  }
  return file
}

/** Nothing is ever written, and yet SQLite would make a journal each time, and remove it. Busy while somebody has the lock. */
function openWithoutJournal(path: string): LockDatabase {
  const database = openLockDatabase(path, { timeoutMs: 0 })
  try {
    database.exec('PRAGMA journal_mode = MEMORY')
    return database
  } catch (error) {
    database.close()
    throw error
  }
}

function close({ database, owner }: LockFile): void {
  database.close()
  if (owner !== undefined) closeSync(owner)
}

function inodeOf(path: string): bigint {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? 0n
}

const OWNER_BYTES = 100
// A pipe of that name is refused, and not waited for.
const OWNER_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK

/** Written over what stands there, at one length: to empty a file and fill it again has ext4 wait for the disk. */
function noteOwner(path: string, file: LockFile, purpose: string): void {
  const text = `${process.pid}\n${new Date().toISOString()}\n${purpose}`
  try {
    file.owner ??= openSync(`${path}.owner`, OWNER_FLAGS, 0o600)
    writeAll(
      file.owner,
      Buffer.from(`${text.slice(0, OWNER_BYTES - 1).padEnd(OWNER_BYTES - 1)}\n`),
      0,
    )
  } catch (error) {
    // It is for messages only: a full disk must not keep a prune from making room.
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error
  }
}
