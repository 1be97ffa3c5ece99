// The folder as it is now.
import type { Project } from '../../model/index.js'
import type { Captured, NamedPaths } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Hooks } from '../operation/callbacks.js'

/** With every path in `named` that exists, whatever the rules say: what a checkpoint holds is compared with the folder. */
export function captureNow(
  { snapshots, ledger }: StoreContext,
  project: Project,
  { named, hooks = {} }: { readonly named: NamedPaths; readonly hooks?: Hooks },
): Promise<Captured> {
  const held = ledger.checkpoints.newestTrees(project.id)
  return captured(hooks, snapshots.capture(project, { held, holdObjects: false, named }, hooks))
}

/** For a caller that records what it gets, or drops it: few new objects are written with the record, not before. */
export function captureForRecord(
  { snapshots, ledger }: StoreContext,
  project: Project,
  hooks: Hooks = {},
): Promise<Captured> {
  const held = ledger.checkpoints.newestTrees(project.id)
  return captured(hooks, snapshots.capture(project, { held, holdObjects: true }, hooks))
}

async function captured({ signal }: Hooks, capture: Promise<Captured>): Promise<Captured> {
  const result = await capture
  signal?.throwIfAborted()
  return result
}
