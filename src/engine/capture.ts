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
  return snapshots.capture(project, ledger.checkpoints.newestTrees(project.id), hooks.onProgress)
}
