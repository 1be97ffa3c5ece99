// The folder as it is now.
import type { Project } from '../model/index.js'
import type { Captured } from '../snapshot/index.js'
import type { StoreContext } from './context.js'
import type { Hooks } from './hooks.js'

export function captureNow(
  { snapshots, ledger }: StoreContext,
  project: Project,
  hooks: Hooks = {},
): Promise<Captured> {
  const held = ledger.checkpoints.newestTrees(project.id)
  return snapshots.capture(project, { held, holdObjects: false }, hooks.onProgress)
}

/** For a caller that records what it gets, or drops it: few new objects are written with the record, not before. */
export function captureForRecord(
  { snapshots, ledger }: StoreContext,
  project: Project,
  hooks: Hooks = {},
): Promise<Captured> {
  const held = ledger.checkpoints.newestTrees(project.id)
  return snapshots.capture(project, { held, holdObjects: true }, hooks.onProgress)
}
