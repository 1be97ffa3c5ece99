// A lock that cannot outlive its owner: SQLite's lock on an empty database file, which the kernel releases when the process
// dies. With a lock file someone has to decide whether it is stale, and wrong decisions have blocked other tools for weeks.
import { readFile } from 'node:fs/promises'
import { closeSync, constants, openSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from '../../model/index.js'
import { writeAll } from '../atomic-file.js'
import { type LockDatabase, openLockDatabase } from '../sqlite/sqlite.js'
import { isBusy } from '../sqlite/sqlite-errors.js'

export type Lock = { release(): void }

/** The owner of a lock, for messages only: the lock does not depend on it. */
export type LockOwner = { readonly pid: number; readonly since: string; readonly purpose: string }

/** Takes the lock; undefined if it was still taken after `waitMs`. Waiting does not block the event loop. */
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
  // A monotonic clock: setting the system time must not change the wait.
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
  /** Descriptor of the file that names the owner, once it was written. */
  owner: number | undefined
}

/** Recently used locks that are free, kept open: opening one takes longer than locking it. */
const kept = new Map<string, LockFile>()
const MAX_KEPT = 8

function tryLock(path: string, purpose: string): Lock | undefined {
  let file: LockFile
  try {
    file = openLockFile(path)
    // SQLite would let the same connection in twice.
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
  // A lock on a removed file excludes no one.
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

/** Nothing is ever written, but by default SQLite creates and removes a journal each time. Throws busy if the lock is taken. */
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
// O_NONBLOCK: opening a pipe of that name must fail, not block.
const OWNER_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK

/** Overwrites the old text at a fixed length: truncating and refilling a file makes ext4 wait for the disk. */
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
    // The owner is for messages only. A full disk must not stop a prune that would free space.
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error
  }
}
