// How much each project takes: the bytes on disk of everything that its checkpoints lead to, measured as a prune does.
// Content that its checkpoints share counts once; content that two projects share counts for both. Measuring thousands
// of checkpoints takes a second, so the ledger caches the sums until a checkpoint is added or removed, or a collection
// packs the store.
import { join } from 'node:path'
import { type ErrorCode, type ProjectId, SavestateError } from '../model/index.js'
import { bytesOf, reachableFrom, takeCensus } from '../snapshot/index.js'
import { isBusy } from '../system/index.js'
import type { StoreContext } from './context.js'

/** A sum, and what it was counted from. */
type Counted = { readonly mark: string; readonly bytes: number }

/** Null where git is missing, or cannot read all objects: `verify` reports that. */
export type Sizes = ReadonlyMap<ProjectId, number | null>

const FAULTS: readonly ErrorCode[] = ['GIT_MISSING', 'GIT_FAILED', 'STORE_DAMAGED']
const KEY = 'project-bytes '

export async function projectSizes(context: StoreContext): Promise<Sizes> {
  const { ledger, snapshots } = context
  const sizes = new Map<ProjectId, number | null>()
  let objects: ReadonlyMap<string, number> | undefined
  for (const { project } of ledger.projects()) {
    const mark = ledger.pruning.filesMark(project.id)
    const known = knownSize(context, project.id)
    if (known?.mark === mark) {
      sizes.set(project.id, known.bytes)
      continue
    }
    objects ??= bytesOf(takeCensus(join(snapshots.gitDir, 'objects')))
    const bytes = await countBytes(context, project.id, objects)
    sizes.set(project.id, bytes)
    if (bytes !== null) keepSize(context, project.id, { mark, bytes })
  }
  return sizes
}

/** After a collection: what was a file of its own takes less in a pack. */
export function forgetProjectSizes({ ledger }: StoreContext): void {
  ledger.care.removeFacts(KEY)
}

async function countBytes(
  { ledger, snapshots }: StoreContext,
  project: ProjectId,
  objects: ReadonlyMap<string, number>,
): Promise<number | null> {
  try {
    let bytes = 0
    for (const id of await reachableFrom(snapshots.gitDir, ledger.pruning.commits(project)))
      bytes += objects.get(id) ?? 0
    return bytes
  } catch (error) {
    if (error instanceof SavestateError && FAULTS.includes(error.code)) return null
    throw error
  }
}

function knownSize({ ledger }: StoreContext, project: ProjectId): Counted | undefined {
  const text = ledger.care.fact(KEY + project)
  return text === undefined ? undefined : (JSON.parse(text) as Counted)
}

/** Only to be quicker the next time: if another process writes, it is counted again then. */
function keepSize({ ledger }: StoreContext, project: ProjectId, counted: Counted): void {
  try {
    ledger.care.setFact(KEY + project, JSON.stringify(counted))
  } catch (error) {
    if (!isBusy(error)) throw error
  }
}
