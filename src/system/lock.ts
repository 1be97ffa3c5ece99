// A lock that cannot outlive its owner: SQLite's lock on an empty database file, which the kernel
// drops when the process dies. A lock file would have to be judged stale, and that judgement has
// kept other tools from saving for weeks.
import { readFile } from 'node:fs/promises'
import { writeFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { hasCode } from '../model/index.js'
import { isBusy, openDatabase } from './sqlite.js'

export type Lock = { release(): void }

/** Who holds a lock, for a message only: the lock itself does not depend on it. */
export type LockOwner = { readonly pid: number; readonly since: string; readonly purpose: string }

/** The lock, or undefined if it was still taken after `waitMs`. Waiting does not block the event loop. */
export async function takeLock(
  path: string,
  { waitMs, purpose }: { readonly waitMs: number; readonly purpose: string },
): Promise<Lock | undefined> {
  const deadline = Date.now() + waitMs
  for (let pauseMs = 2; ; pauseMs = Math.min(pauseMs * 2, 50)) {
    const lock = tryLock(path, purpose)
    if (lock !== undefined) return lock
    if (Date.now() >= deadline) return undefined
    await sleep(pauseMs)
  }
}

export async function readLockOwner(path: string): Promise<LockOwner | undefined> {
  const text = await readFile(`${path}.owner`, 'utf8').catch((error: unknown) => {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  })
  if (text === undefined || !text.endsWith('\n')) return undefined
  const [pid, since, purpose] = text.split('\n')
  return { pid: Number(pid), since: since ?? '', purpose: purpose ?? '' }
}

function tryLock(path: string, purpose: string): Lock | undefined {
  const database = openDatabase(path, { timeoutMs: 0 })
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    database.close()
    if (isBusy(error)) return undefined
    throw error
  }
  try {
    noteOwner(path, purpose)
  } catch (error) {
    database.close()
    throw error
  }
  return { release: () => database.close() }
}

function noteOwner(path: string, purpose: string): void {
  const text = `${process.pid}\n${new Date().toISOString()}\n${purpose}\n`
  try {
    writeFileSync(`${path}.owner`, text, { mode: 0o600 })
  } catch (error) {
    // It is for messages only: a full disk must not keep a prune from making room.
    if (!hasCode(error, 'ENOSPC', 'EDQUOT')) throw error
  }
}
