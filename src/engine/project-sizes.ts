// How much each project takes: the bytes of all files and states that its checkpoints lead to, measured as a prune does.
// Content that its checkpoints share counts once; content that two projects share counts for both. Measuring thousands
// of checkpoints takes a second, so the ledger caches the sums until a checkpoint is added or removed, or a collection
// packs the store.
import { join } from 'node:path'
import { type ErrorCode, type ProjectId, SavestateError } from '../model/index.js'
import { bytesOf, reachableFrom, takeCensus } from '../snapshot/index.js'
import { isBusy } from '../system/index.js'
import type { StoreContext } from './context.js'

export type ProjectSize = {
  readonly bytes: number
  /** The part of it that is conversations and other states. */
  readonly stateBytes: number
}

/** A size, and what it was counted from. */
type Counted = ProjectSize & { readonly mark: string }

/** Null where git is missing, or not everything can be read: `verify` reports that. */
export type Sizes = ReadonlyMap<ProjectId, ProjectSize | null>

const FAULTS: readonly ErrorCode[] = [
  'GIT_MISSING',
  'GIT_FAILED',
  'STORE_DAMAGED',
  'STATE_UNREADABLE',
]

export async function projectSizes(context: StoreContext): Promise<Sizes> {
  const { ledger, snapshots } = context
  const sizes = new Map<ProjectId, ProjectSize | null>()
  let objects: ReadonlyMap<string, number> | undefined
  for (const { project } of ledger.projects()) {
    const mark = ledger.pruning.contentMark(project.id)
    const known = knownSize(context, project.id)
    if (known?.mark === mark) {
      sizes.set(project.id, known)
      continue
    }
    objects ??= bytesOf(takeCensus(join(snapshots.gitDir, 'objects')))
    const size = await measure(context, project.id, objects)
    sizes.set(project.id, size)
    if (size !== null) keepSize(context, project.id, { mark, ...size })
  }
  return sizes
}

/** After a collection: what was a file of its own takes less in a pack. */
export function forgetProjectSizes({ ledger }: StoreContext): void {
  ledger.projectRecords.clearSizes()
}

async function measure(
  { ledger, snapshots }: StoreContext,
  project: ProjectId,
  objects: ReadonlyMap<string, number>,
): Promise<ProjectSize | null> {
  try {
    const stateBytes = ledger.pruning.stateBytesOf(project)
    let bytes = stateBytes
    for (const id of await reachableFrom(snapshots.gitDir, ledger.pruning.commits(project)))
      bytes += objects.get(id) ?? 0
    return { bytes, stateBytes }
  } catch (error) {
    if (error instanceof SavestateError && FAULTS.includes(error.code)) return null
    throw error
  }
}

function knownSize({ ledger }: StoreContext, project: ProjectId): Counted | undefined {
  const text = ledger.projectRecords.sizes(project)
  return text === undefined ? undefined : (JSON.parse(text) as Counted)
}

/** Only to be quicker the next time: if another process writes, it is counted again then. */
function keepSize({ ledger }: StoreContext, project: ProjectId, counted: Counted): void {
  try {
    ledger.projectRecords.setSizes(project, JSON.stringify(counted))
  } catch (error) {
    if (!isBusy(error)) throw error
  }
}
