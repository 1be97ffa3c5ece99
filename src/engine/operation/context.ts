// Everything an operation may use.
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Ledger } from '../../ledger/index.js'
import {
  type BytePath,
  explainSystemError,
  hasCode,
  makeId,
  parseProjectId,
  printablePath,
  type Project,
  SavestateError,
} from '../../model/index.js'
import type { Snapshots } from '../../snapshot/index.js'
import {
  type Clock,
  type Lock,
  readLockOwner,
  type SharedLock,
  takeLock,
} from '../../system/index.js'
import { noteFailure } from './failure-log.js'
import { parentIdentity } from '../projects/project-state.js'
import { expectStoreStill } from '../store/store-home.js'

export type StoreContext = {
  /** The store's real path. */
  readonly home: string
  readonly ledger: Ledger
  readonly snapshots: Snapshots
  readonly clock: Clock
  /** Shared by all who add to the objects or read what is not held by a row; alone by who removes some. */
  readonly objects: SharedLock
  /** The store's lock, held shared while the store is open. */
  readonly use?: SharedLock
}

export type ProjectContext = StoreContext & {
  /** The folder's real path. It is in the ledger once something was saved. */
  readonly path: BytePath
}

const LOCK_WAIT_MS = 60_000
/** Who waited longer than this for a lock looks at the store again. */
const FRESH_MS = 5

export function knownProject({ ledger, path }: ProjectContext): Project | undefined {
  return ledger.projectAt(path)
}

export function ensureProject({ ledger, clock, path }: ProjectContext): Project {
  const known = ledger.projectAt(path)
  if (known !== undefined) return known
  const createdAtMs = clock.nowMs()
  const id = parseProjectId(makeId(clock.random))
  return ledger.ensureProject({ id, path, createdAtMs, ...parentIdentity(path) })
}

/** One operation at a time on a project, across all processes. */
export async function withProjectLock<T>(
  context: StoreContext,
  project: Project,
  {
    purpose,
    signal,
    work,
  }: {
    readonly purpose: string
    readonly signal?: AbortSignal | undefined
    readonly work: () => Promise<T>
  },
): Promise<T> {
  expectSameStore(context)
  const lookedAtMs = performance.now()
  context.snapshots.expectCapture(project.id)
  const path = lockPath(context, project)
  const lock = await takeLock(path, { waitMs: LOCK_WAIT_MS, purpose, signal })
  if (lock === undefined) {
    const owner = await readLockOwner(path)
    const who =
      owner === undefined
        ? 'another process'
        : `process ${owner.pid} (${owner.purpose}, since ${owner.since})`
    throw new SavestateError('PROJECT_BUSY', `${printablePath(project.path)} is in use by ${who}`, {
      hint: 'Wait until it is done, then run the command again.',
    })
  }
  try {
    return await releasing(lock, () =>
      context.objects.shared(() => {
        if (performance.now() - lookedAtMs > FRESH_MS) expectSameStore(context)
        return whileKnown(context, project, work)
      }),
    )
  } finally {
    for (const surplus of context.snapshots.surplusAfter(project)) await forget(context, surplus)
  }
}

/** What is in memory of a project, so that a process may work on any number of them. */
async function forget(context: StoreContext, project: Project): Promise<void> {
  try {
    await ifProjectIsFree(context, project, {
      purpose: 'let go',
      work: () => context.snapshots.forget(project),
    })
  } catch (error) {
    // Only time is lost, and the work that was asked for is done.
    noteFailure({ ...context, path: project.path }, 'let go', explainSystemError(error))
  }
}

/** A prune may have forgotten the project while we waited for it. */
function whileKnown<T>(
  context: StoreContext,
  project: Project,
  work: () => Promise<T>,
): Promise<T> {
  if (context.ledger.project(project.id) !== undefined) return work()
  throw new SavestateError(
    'PROJECT_BUSY',
    `${printablePath(project.path)} was just removed by a prune`,
    { hint: 'Run the command again to start a new history.' },
  )
}

/** Does nothing if somebody else is at work on the project. */
export async function ifProjectIsFree(
  context: StoreContext,
  project: Project,
  { purpose, work }: { readonly purpose: string; readonly work: () => Promise<void> },
): Promise<void> {
  expectSameStore(context)
  const lock = await takeLock(lockPath(context, project), { waitMs: 0, purpose })
  if (lock !== undefined) await releasing(lock, () => context.objects.shared(work))
}

/** Before objects are added or removed: rows come last, and by then it would be too late to find out. */
export function expectSameStore({ home, ledger }: StoreContext): void {
  expectStoreStill(home)
  ledger.refuseOtherVersion()
}

async function releasing<T>(lock: Lock, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    lock.release()
  }
}

function lockPath({ home }: StoreContext, { id }: Project): string {
  return join(locksFolder(home), id)
}

/** Not the id of any project. */
export function objectsLockPath(home: string): string {
  return join(locksFolder(home), 'objects')
}

/** Shared by all who have the store open; alone by who empties it. */
export function storeLockPath(home: string): string {
  return join(locksFolder(home), 'store')
}

/** One collection at a time. */
export function collectLockPath(home: string): string {
  return join(locksFolder(home), 'collect')
}

/** Held by the daemon for as long as it lives. */
export function daemonLockPath(home: string): string {
  return join(locksFolder(home), 'daemon')
}

/** One change of settings at a time. */
export function configLockPath(home: string): string {
  return join(locksFolder(home), 'config')
}

function locksFolder(home: string): string {
  const folder = join(home, 'locks')
  // Not the home itself, which somebody may have removed: half a store would take its place.
  if (!existsSync(folder)) makeFolder(folder)
  return folder
}

function makeFolder(path: string): void {
  try {
    mkdirSync(path, { mode: 0o700 })
  } catch (error) {
    // Another process was faster.
    if (!hasCode(error, 'EEXIST')) throw error
  }
}
