// How much each project takes: the bytes on disk of everything that its checkpoints lead to. What two of its checkpoints
// share counts once; what two projects share counts for both. To follow thousands of checkpoints takes seconds, so the
// sums are kept in the ledger and only what was added since is followed. A prune counts everything again.
import { type ErrorCode, type ProjectId, SavestateError } from '../model/index.js'
import { diskBytesOf } from '../snapshot/index.js'
import { isBusy } from '../system/index.js'
import type { StoreContext } from './context.js'

/** A sum, and what it was counted from: the newest checkpoint with files, and how many there were up to it. */
type Counted = { readonly seq: number; readonly count: number; readonly bytes: number }

/** Null where git is missing, or cannot read all objects: `verify` reports that. */
export type Sizes = ReadonlyMap<ProjectId, number | null>

const FAULTS: readonly ErrorCode[] = ['GIT_MISSING', 'GIT_FAILED', 'STORE_DAMAGED']
const KEY = 'project-bytes '
const AT_ONCE = 4

export async function projectSizes(context: StoreContext): Promise<Sizes> {
  const projects = context.ledger.projects().map(({ project }) => project.id)
  const sizes = new Map<ProjectId, number | null>()
  for (let at = 0; at < projects.length; at += AT_ONCE) {
    const some = projects.slice(at, at + AT_ONCE)
    const bytes = await Promise.all(some.map((project) => sizeIfKnown(context, project)))
    for (const [index, project] of some.entries()) sizes.set(project, bytes[index] ?? null)
  }
  return sizes
}

/** Counts everything again, for after a collection. */
export async function refreshProjectSizes(context: StoreContext): Promise<void> {
  context.ledger.care.removeFacts(KEY)
  await projectSizes(context)
}

async function sizeIfKnown(context: StoreContext, project: ProjectId): Promise<number | null> {
  try {
    return await sizeOf(context, project)
  } catch (error) {
    if (error instanceof SavestateError && FAULTS.includes(error.code)) return null
    throw error
  }
}

async function sizeOf(context: StoreContext, project: ProjectId): Promise<number> {
  const { ledger, snapshots } = context
  const known = knownSize(context, project)
  const since = ledger.pruning.filesSince(project, known?.seq ?? null)
  // With fewer rows than were counted, something was removed: count from the beginning.
  const isUsable = known !== undefined && since.earlier === known.count
  const { commits, newest, count } = isUsable ? since : ledger.pruning.filesSince(project, null)
  const start = isUsable ? known.bytes : 0
  if (newest === null || commits.length === 0) return start
  const without = isUsable ? since.before : null
  const bytes = start + (await diskBytesOf(snapshots.gitDir, { commits, without }))
  keepSize(context, project, { seq: newest, count, bytes })
  return bytes
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
