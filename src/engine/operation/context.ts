// The context that every operation gets, and the project lock.
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
import type { Remote } from '../../remote/index.js'
import type { Snapshots } from '../../snapshot/index.js'
import {
  type Clock,
  type Lock,
  readLockOwner,
  type SharedLock,
  takeLock,
} from '../../system/index.js'
import { noteFailure } from './failures.js'
import { readParentIdentity } from '../projects/project-state.js'
import type { Fleet } from '../sharing/fleet.js'
import { expectStoreExists } from '../store/store-home.js'

export type StoreContext = {
  /** The store's real path. */
  readonly home: string
  readonly ledger: Ledger
  readonly snapshots: Snapshots
  readonly clock: Clock
  /** Differs for each store of a process. A push names it in its lease, so that the next one recognizes a lease whose answer was lost. */
  readonly openedAtMs?: number
  /** Held shared while objects are added, or read without a row that keeps them; held exclusively while they are removed. */
  readonly objects: SharedLock
  /** Held shared while the store is open. */
  readonly use?: SharedLock
  /** Shares all sessions and threads, in mode wait. Without it, nothing is contacted unless a caller says so. */
  readonly fleet?: Fleet
  /** The remote that gave itself this id, if this store knows it: where the files of a checkpoint are that was not made here. */
  readonly openRemote?: (id: string) => Promise<Remote | undefined>
}

export type ProjectContext = StoreContext & {
  /** The folder's real path. The ledger has a row for it once something was saved. */
  readonly path: BytePath
}

const LOCK_WAIT_MS = 60_000

export function findKnownProject({ ledger, path }: ProjectContext): Project | undefined {
  return ledger.projectAt(path)
}

export function ensureProject({ ledger, clock, path }: ProjectContext): Project {
  const known = ledger.projectAt(path)
  if (known !== undefined) return known
  const createdAtMs = clock.nowMs()
  const id = parseProjectId(makeId(clock.random))
  return ledger.ensureProject({ id, path, createdAtMs, ...readParentIdentity(path) })
}

/** Runs one operation at a time on a project, across all processes. Throws PROJECT_BUSY after a minute of waiting. */
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
  const path = join(locksFolder(context.home), project.id)
  const lock = await takeLock(path, { waitMs: LOCK_WAIT_MS, purpose, signal })
  if (lock === undefined) {
    const owner = await readLockOwner(path)
    const holder =
      owner === undefined
        ? 'another process'
        : `process ${owner.pid} (${owner.purpose}, since ${owner.since})`
    throw new SavestateError(
      'PROJECT_BUSY',
      `${printablePath(project.path)} is in use by ${holder}`,
      { hint: 'Wait until it is done, then run the command again.' },
    )
  }
  try {
    return await releaseAfter(lock, () =>
      context.objects.shared(() => {
        // Another process may have replaced the store, or pruned the project, while we waited for the lock.
        expectSameStore(context)
        refuseForgotten(context, project)
        return work()
      }),
    )
  } finally {
    for (const surplus of context.snapshots.surplusAfter(project)) await unload(context, surplus)
  }
}

/** Frees the memory of a project, so that one process can work on any number of them. */
async function unload(context: StoreContext, project: Project): Promise<void> {
  try {
    await tryWithProjectLock(context, project, {
      purpose: 'let go',
      work: () => context.snapshots.forget(project),
    })
  } catch (error) {
    // Not fatal: the operation itself is done, and the memory is only a cache.
    noteFailure({ ...context, path: project.path }, 'let go', explainSystemError(error))
  }
}

function refuseForgotten({ ledger }: StoreContext, project: Project): void {
  if (ledger.project(project.id) !== undefined) return
  throw new SavestateError(
    'PROJECT_BUSY',
    `${printablePath(project.path)} was just removed by a prune`,
    { hint: 'Run the command again to start a new history.' },
  )
}

/** Does nothing if another process holds the project's lock. */
export async function tryWithProjectLock(
  context: StoreContext,
  project: Project,
  { purpose, work }: { readonly purpose: string; readonly work: () => Promise<void> },
): Promise<void> {
  expectSameStore(context)
  const lock = await takeLock(join(locksFolder(context.home), project.id), { waitMs: 0, purpose })
  if (lock !== undefined) await releaseAfter(lock, () => context.objects.shared(work))
}

/** Call it before adding or removing objects: rows are written last, and finding out then would be too late. */
export function expectSameStore({ home, ledger }: StoreContext): void {
  expectStoreExists(home)
  ledger.refuseOtherVersion()
}

async function releaseAfter<T>(lock: Lock, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } finally {
    lock.release()
  }
}

/** None of these names is a project id. */
const namedLock = (name: string) => (home: string) => join(locksFolder(home), name)

/** See `StoreContext.objects`. */
export const objectsLockPath = namedLock('objects')
/** Held shared while a store is open; held exclusively while its contents are cleared. */
export const storeLockPath = namedLock('store')
/** Held by the process that collects garbage. */
export const collectLockPath = namedLock('collect')
/** Held by the daemon as long as it runs. */
export const daemonLockPath = namedLock('daemon')
/** Held while settings are changed. */
export const configLockPath = namedLock('config')

/** The path of a lock that is named after a project. */
export function lockPath(home: string, name: string): string {
  return join(locksFolder(home), name)
}

function locksFolder(home: string): string {
  const folder = join(home, 'locks')
  if (existsSync(folder)) return folder
  try {
    // Not recursive: if another process removed the home, this must not create half a store.
    mkdirSync(folder, { mode: 0o700 })
  } catch (error) {
    // EEXIST: another process made it first.
    if (!hasCode(error, 'EEXIST')) throw error
  }
  return folder
}
