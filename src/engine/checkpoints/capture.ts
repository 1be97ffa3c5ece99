// Captures the folder as it is now, and decides whether a checkpoint of it would add anything.
import type { FilesCheckpoint, Project, SkipReason } from '../../model/index.js'
import type { Captured, NamedPaths } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'

/** Includes every existing path in `named`, even if a rule excludes it, so that a checkpoint can be compared with the folder. */
export function captureNow(
  context: StoreContext,
  project: Project,
  { named, callbacks = {} }: { readonly named: NamedPaths; readonly callbacks?: Callbacks },
): Promise<Captured> {
  return capture(context, project, { deferObjects: false, named, callbacks })
}

/** For a caller that records the snapshot or drops it: a few new objects are written with the record, not before. */
export function captureForRecord(
  context: StoreContext,
  project: Project,
  callbacks: Callbacks = {},
): Promise<Captured> {
  return capture(context, project, { deferObjects: true, callbacks })
}

async function capture(
  { snapshots, ledger }: StoreContext,
  project: Project,
  {
    callbacks,
    ...request
  }: { readonly deferObjects: boolean; named?: NamedPaths; readonly callbacks: Callbacks },
): Promise<Captured> {
  const knownTrees = ledger.checkpoints.newestTrees(project.id)
  const captured = await snapshots.capture(project, { knownTrees, ...request }, callbacks)
  callbacks.signal?.throwIfAborted()
  return captured
}

/** Skips that surprise the user. Other skipped paths come and go as programs run, or match the user's own rules. */
const MISSED: readonly SkipReason[] = ['too-large', 'unreadable', 'unstable', 'reserved']

/** Equal trees are not enough: a tree does not contain skipped paths, and a file that could not be saved must be listed (I9). */
export function isSameAsCheckpoint(
  { ledger }: StoreContext,
  known: FilesCheckpoint | undefined,
  { snapshot }: Captured,
): known is FilesCheckpoint {
  if (known?.snapshot.tree !== snapshot.tree) return false
  const missed = snapshot.skippedPaths.filter(({ reason }) => MISSED.includes(reason))
  if (missed.length === 0) return true
  const { skippedPaths = [] } = ledger.checkpoints.details(known.id) ?? {}
  const listed = new Set(skippedPaths.map(({ path }) => path))
  return missed.every(({ path }) => listed.has(path))
}
