// A lock that cannot outlive its owner: SQLite's lock on an empty database file, which the kernel releases when the process
// dies. With a lock file someone has to decide whether it is stale, and wrong decisions have blocked other tools for weeks.
import { readFile } from 'node:fs/promises'
import { closeSync, constants, openSync } from 'node:fs'
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

/** Referenced until their release: the driver closes an unreachable connection, which would drop its lock. */
const held = new Set<LockDatabase>()

function tryLock(path: string, purpose: string): Lock | undefined {
  const database = takeExclusively(path)
  if (database === undefined) return undefined
  try {
    noteOwner(path, purpose)
  } catch (error) {
    database.close()
    throw error
  }
  held.add(database)
  return {
    release() {
      held.delete(database)
      database.close()
    },
  }
}

/** Locks the file until the database is closed; undefined if it is locked. */
export function takeExclusively(path: string): LockDatabase | undefined {
  const database = openLockDatabase(path, { timeoutMs: 0 })
  try {
    // Nothing is ever written, but by default SQLite creates and removes a journal each time.
    database.exec('PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE')
    return database
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
}

const OWNER_BYTES = 100
// O_NONBLOCK: opening a pipe of that name must fail, not block.
const OWNER_FLAGS = constants.O_WRONLY | constants.O_CREAT | constants.O_NONBLOCK

/** Overwrites the old text at a fixed length: truncating and refilling a file makes ext4 wait for the disk. */
function noteOwner(path: string, purpose: string): void {
  const text = `${process.pid}\n${new Date().toISOString()}\n${purpose}`
  const line = `${text.slice(0, OWNER_BYTES - 1).padEnd(OWNER_BYTES - 1)}\n`
  try {
    const fd = openSync(`${path}.owner`, OWNER_FLAGS, 0o600)
    try {
      writeAll(fd, Buffer.from(line), 0)
    } finally {
      closeSync(fd)
    }
  } catch (error) {
    // The owner is for messages only. A full disk must not stop a prune that would free space.
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error
  }
}
