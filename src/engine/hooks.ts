// What a caller may want to hear or decide while an operation runs.
import type { ImportPlan } from '../model/index.js'
import type { CaptureProgress } from '../snapshot/index.js'
import type { PlanView } from './view.js'

export type Progress = CaptureProgress

export type Hooks = {
  readonly onProgress?: ((progress: Progress) => void) | undefined
  /** Shown to the person, not an error: an interrupted rewind was finished, and the like. */
  readonly onNotice?: ((text: string) => void) | undefined
  /** Asked between plan and deed. Without it the answer is yes. */
  readonly confirm?: ((plan: PlanView) => Promise<boolean>) | undefined
  /** The same for an import. */
  readonly confirmImport?: ((plan: ImportPlan) => Promise<boolean>) | undefined
}
