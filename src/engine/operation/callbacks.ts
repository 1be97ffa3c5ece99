// What a caller may want to hear or decide while an operation runs.
import type { AgentConversation } from '../../model/index.js'
import type { CaptureProgress } from '../../snapshot/index.js'
import type { ImportPlan } from '../import/import-history.js'
import type { NotRestored } from '../restore/not-restored.js'
import type { PruneResult } from '../prune/prune-result.js'
import type { PlanView, TargetView } from '../checkpoints/views.js'

export type Progress = CaptureProgress

/** The subject of a rewind, undo or redo, for its confirmation. */
export type RestoreSubject = {
  /** The checkpoint to go back to; for an undo or redo, the one that the rewind went to. Null if it was pruned. */
  readonly to: TargetView | null
  /** Rewind only: changes by tool calls since the target that no checkpoint holds. */
  readonly notRestored?: readonly NotRestored[]
  /** When the rewind was made that an undo takes back or a redo repeats. */
  readonly rewoundAt?: Date
  /** Undo and redo only: the agent's conversation that the rewind took back too. */
  readonly conversation?: AgentConversation
}

export type PlanFacts = RestoreSubject & {
  /** The checkpoint to go back to, and the snapshot that the folder is to become. */
  readonly target: string
  readonly goal: string
  /** What the folder holds, as a snapshot: another one after any change of what is captured. */
  readonly now: string
  /** The session that an undo or redo gives another state, besides the files. */
  readonly session?: string | undefined
  /** Equal for two plans that do the same to the same contents. */
  readonly mark: string
}

export type Hooks = {
  /** Checked between phases and in loops. A restore ignores it once its journal is written. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Shown to the person, not an error: an interrupted rewind was finished, and the like. */
  readonly onNotice?: ((text: string) => void) | undefined
  /**
   * Asked about the plan before it is carried out; without it the answer is yes. Other processes may work on the project
   * meanwhile. If the plan is another one after a yes, this is called again with the new plan.
   */
  readonly confirm?: ((plan: PlanView, facts: PlanFacts) => Promise<boolean>) | undefined
  /** The same for an import. */
  readonly confirmImport?: ((plan: ImportPlan) => Promise<boolean>) | undefined
  /** The same for a prune that has something to remove. Others may work meanwhile: what they use stays. */
  readonly confirmPrune?: ((planned: PruneResult) => Promise<boolean>) | undefined
}

/** The same without the signal, for work that must not stop half-way (I6). */
export function uncancellable({ signal: _signal, ...hooks }: Hooks): Hooks {
  return hooks
}
