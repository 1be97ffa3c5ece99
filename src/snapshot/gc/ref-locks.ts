// Git's locks on refs are files that remain when git is killed, and then every later change of the ref fails. Only we change the
// refs of a store through git, one process at a time. So any lock file at this point belongs to a dead git, unless that git has
// outlived the process that started it.
import { rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { SavestateError } from '../../model/index.js'
import { listIfExists, takeLock } from '../../system/index.js'

const WAIT_MS = 60_000
const PAUSE_MS = 50
/** A git without a parent has finished long before its locks are this old. */
const DEAD_MS = 10_000

/** Runs the work while no one else changes refs, after removing stale git locks. */
export async function withRefLock<T>(gitDir: string, work: () => Promise<T>): Promise<T> {
  const path = join(dirname(gitDir), 'locks', 'refs')
  const lock = await takeLock(path, { waitMs: WAIT_MS, purpose: 'change refs' })
  if (lock === undefined) throw busy()
  try {
    await removeDeadLocks(gitDir)
    return await work()
  } finally {
    lock.release()
  }
}

async function removeDeadLocks(gitDir: string): Promise<void> {
  const deadline = performance.now() + WAIT_MS
  for (;;) {
    const left = locksIn(gitDir)
    if (left.length === 0) return
    if (left.every(isDead)) {
      for (const path of left) rmSync(path, { force: true })
      return
    }
    if (performance.now() > deadline) throw busy()
    await sleep(PAUSE_MS)
  }
}

function locksIn(gitDir: string): string[] {
  const root = join(gitDir, 'refs', 'savestate')
  const ofRefs = listIfExists(root).flatMap((project) =>
    listIfExists(join(root, project))
      .filter((name) => name.endsWith('.lock'))
      .map((name) => join(root, project, name)),
  )
  const ofPacked = listIfExists(gitDir)
    .filter((name) => name === 'packed-refs.lock' || name === 'packed-refs.new')
    .map((name) => join(gitDir, name))
  return [...ofRefs, ...ofPacked]
}

function isDead(lock: string): boolean {
  return Date.now() - (statSync(lock, { throwIfNoEntry: false })?.mtimeMs ?? 0) > DEAD_MS
}

function busy(): SavestateError {
  return new SavestateError('STORE_BUSY', 'Another process is changing the refs of the store', {
    hint: 'Wait until it is done, then run the command again.',
  })
}
