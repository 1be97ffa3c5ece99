// Sizes on disk of the store, of objects and of each project.
import { join } from 'node:path'
import {
  type ErrorCode,
  type ObjectId,
  type ProjectId,
  retentionPolicy,
  SavestateError,
} from '../../model/index.js'
import { bytesOf, reachableFrom, readObjectGraph, listObjectFiles } from '../../snapshot/index.js'
import { diskUsage, isBusy } from '../../system/index.js'
import type { StoreContext } from '../operation/context.js'
import { storeSettings } from './settings.js'

/** Paths that a collection packs, empties or rewrites. Their later size is unknown; a next round corrects an estimate that is too low. */
const REWRITTEN_BY_GC = [
  'objects.git/objects',
  'objects.git/refs',
  'tmp',
  'ledger.db',
  'ledger.db-wal',
  'ledger.db.backup',
]

export type StoreSizes = Awaited<ReturnType<typeof measureStore>>

export async function measureStore({ home, snapshots, ledger }: StoreContext) {
  const { gitDir } = snapshots
  const bytes = objectSizes(gitDir)
  const total = await diskUsage(home)
  let rest = total + ledger.vacuum.bytesInUse()
  for (const name of REWRITTEN_BY_GC) rest -= await diskUsage(join(home, name))
  return {
    /** The whole store, measured. */
    total,
    /** Everything except the objects, after a collection. */
    rest,
    /** The ids of all objects reachable from these commits. */
    reached: (commits: readonly ObjectId[]) => reachableFrom(gitDir, new Set(commits)),
    sumOf: (ids: Iterable<string>) => sumOf(bytes, ids),
    /** The size of the objects that are reachable from these commits and not in `live`. */
    async freed(commits: readonly ObjectId[], live: ReadonlySet<string>): Promise<number> {
      if (commits.length === 0) return 0
      const reached = await reachableFrom(gitDir, new Set(commits))
      return sumOf(
        bytes,
        [...reached].filter((id) => !live.has(id)),
      )
    },
    graph: (commits: readonly string[]) => readObjectGraph(gitDir, { commits, bytes }),
  }
}

function objectSizes(gitDir: string): ReadonlyMap<string, number> {
  return bytesOf(listObjectFiles(join(gitDir, 'objects')))
}

function sumOf(bytes: ReadonlyMap<string, number>, ids: Iterable<string>): number {
  let total = 0
  for (const id of ids) total += bytes.get(id) ?? 0
  return total
}

export type ProjectSize = {
  readonly bytes: number
  /** The part that states, such as conversations, take. */
  readonly stateBytes: number
}

/** After one of these errors the size of a project is unknown (null). `verify` reports the error. */
const FAULTS: readonly ErrorCode[] = [
  'GIT_MISSING',
  'GIT_FAILED',
  'STORE_DAMAGED',
  'STATE_UNREADABLE',
]

/**
 * The bytes of all files and states of each project, measured as a prune does. Content that two projects share counts for both.
 * Measuring thousands of checkpoints takes a second, so the ledger caches the sums until a checkpoint is added or removed, or a
 * collection packs the store.
 */
export async function projectSizes(
  context: StoreContext,
): Promise<ReadonlyMap<ProjectId, ProjectSize | null>> {
  const { ledger, snapshots } = context
  const sizes = new Map<ProjectId, ProjectSize | null>()
  let objects: ReadonlyMap<string, number> | undefined
  for (const { project } of ledger.projects()) {
    const mark = ledger.pruning.contentMark(project.id)
    const cached = JSON.parse(ledger.projectRecords.sizes(project.id) ?? '{}') as Partial<
      ProjectSize & { mark: string }
    >
    const { bytes, stateBytes } = cached
    if (cached.mark === mark && bytes !== undefined && stateBytes !== undefined) {
      sizes.set(project.id, { bytes, stateBytes })
      continue
    }
    objects ??= objectSizes(snapshots.gitDir)
    const size = await measure(context, project.id, objects)
    sizes.set(project.id, size)
    if (size !== null) cacheSize(context, project.id, { mark, ...size })
  }
  return sizes
}

/** After a collection: an object takes less space in a pack than in its own file. */
export function forgetProjectSizes({ ledger }: StoreContext): void {
  ledger.projectRecords.clearSizes()
}

async function measure(
  { ledger, snapshots }: StoreContext,
  project: ProjectId,
  objects: ReadonlyMap<string, number>,
): Promise<ProjectSize | null> {
  try {
    const stateBytes = ledger.pruning.stateBytes({ project })
    const reached = await reachableFrom(snapshots.gitDir, ledger.pruning.commits(project))
    return { bytes: stateBytes + sumOf(objects, reached), stateBytes }
  } catch (error) {
    if (error instanceof SavestateError && FAULTS.includes(error.code)) return null
    throw error
  }
}

/** If another process is writing, the next `status` measures again. */
function cacheSize({ ledger }: StoreContext, project: ProjectId, value: unknown): void {
  try {
    ledger.projectRecords.setSizes(project, JSON.stringify(value))
  } catch (error) {
    if (!isBusy(error)) throw error
  }
}

export type LargeProject = ProjectSize & {
  /** A path, or `session ID` for a session without a project. */
  readonly path: string
}

export type AboveLimit = {
  readonly byBytes: number
  /** The largest owners of data that the last prune had to keep. Empty: the next prune may bring the store under its limit. */
  readonly largest: readonly LargeProject[]
}

export function recordAbove({ ledger }: StoreContext, largest: readonly LargeProject[]): void {
  ledger.record.set('above_limit', JSON.stringify(largest))
}

/** Null if the store is within its limit. */
export function aboveLimit({ home, ledger }: StoreContext, sizeBytes: number): AboveLimit | null {
  const byBytes = sizeBytes - retentionPolicy(storeSettings(home).config).maxBytes
  if (byBytes <= 0) return null
  const largest = JSON.parse(ledger.record.json('above_limit') ?? '[]') as readonly LargeProject[]
  return { byBytes, largest }
}
