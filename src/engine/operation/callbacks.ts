// The callbacks through which a caller follows a running operation and confirms its plan.
import type { AgentConversation } from '../../model/index.js'
import type { CaptureProgress } from '../../snapshot/index.js'
import type { ImportPlan } from '../import/import-history.js'
import type { NotRestored } from '../restore/not-restored.js'
import type { OutsideEffect } from '../outside/index.js'
import type { PruneResult } from '../prune/prune-result.js'
import type { PlanView, TargetView } from '../checkpoints/views.js'

export type Progress = CaptureProgress

/** The subject of a rewind, undo or redo, for its confirmation. */
export type RestoreSubject = {
  /** The checkpoint to go back to; for an undo or redo, the one that the rewind went to. Null if it was pruned. */
  readonly to: TargetView | null
  /**
   * If steps are taken back instead of going to a checkpoint: references to them, newest first. `to` is then the newest of
   * these steps.
   */
  readonly undone?: readonly string[]
  /** Rewind only: changes by tool calls since the target that no checkpoint holds. */
  readonly notRestored?: readonly NotRestored[]
  /** Rewind only: commands since the target that probably changed something outside the folder, newest first. */
  readonly outside?: readonly OutsideEffect[]
  /** Undo and redo only: when the rewind was made. */
  readonly rewoundAt?: Date
  /** Undo and redo only: the agent's conversation that was rewound together with the files. */
  readonly conversation?: AgentConversation
}

export type PlanDetails = RestoreSubject & {
  /** The id of the checkpoint to go back to, and of its snapshot. */
  readonly target: string
  readonly goal: string
  /** The snapshot of the folder as it is. Every change to a captured path changes this id. */
  readonly now: string
  /** The session whose state an undo or redo changes together with the files. */
  readonly session?: string | undefined
  /** A hash of the plan: equal for two plans that do the same to the same contents. */
  readonly mark: string
}

export type Callbacks = {
  /** Checked between phases and in loops. A restore ignores it once its journal is written. */
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Receives messages for the user that are not errors, such as "an interrupted rewind was finished". */
  readonly onWarning?: ((text: string) => void) | undefined
  /** Receives each plan of a rewind, undo or redo, also that of a dry run, under the lock. If it throws, nothing changes. */
  readonly onPlan?: ((plan: PlanView, details: PlanDetails) => void) | undefined
  /**
   * Asks whether to apply the plan; without this callback the answer is yes. Other processes may change the project
   * meanwhile. If that changes the plan, the operation calls `confirm` again with the new plan.
   */
  readonly confirm?: ((plan: PlanView, details: PlanDetails) => Promise<boolean>) | undefined
  /** The same for an import. */
  readonly confirmImport?: ((plan: ImportPlan) => Promise<boolean>) | undefined
  /** The same for a prune that has something to remove. The prune keeps what other processes start to use meanwhile. */
  readonly confirmPrune?: ((planned: PruneResult) => Promise<boolean>) | undefined
}

/** The same without the signal, for work that must not stop half-way (I6). */
export function uncancellable({ signal: _signal, ...callbacks }: Callbacks): Callbacks {
  return callbacks
}
