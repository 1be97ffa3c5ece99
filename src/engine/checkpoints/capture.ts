// Captures the folder as it is now.
import type { Project } from '../../model/index.js'
import type { Captured, NamedPaths } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'

/** Includes every existing path in `named`, even if a rule excludes it, so that a checkpoint can be compared with the folder. */
export function captureNow(
  { snapshots, ledger }: StoreContext,
  project: Project,
  { named, callbacks = {} }: { readonly named: NamedPaths; readonly callbacks?: Callbacks },
): Promise<Captured> {
  const knownTrees = ledger.checkpoints.newestTrees(project.id)
  return captured(
    callbacks,
    snapshots.capture(project, { knownTrees, deferObjects: false, named }, callbacks),
  )
}

/** For a caller that records the snapshot or drops it: a few new objects are written with the record, not before. */
export function captureForRecord(
  { snapshots, ledger }: StoreContext,
  project: Project,
  callbacks: Callbacks = {},
): Promise<Captured> {
  const knownTrees = ledger.checkpoints.newestTrees(project.id)
  return captured(
    callbacks,
    snapshots.capture(project, { knownTrees, deferObjects: true }, callbacks),
  )
}

async function captured({ signal }: Callbacks, capture: Promise<Captured>): Promise<Captured> {
  const result = await capture
  signal?.throwIfAborted()
  return result
}
