// Asks for confirmation without holding the project's lock: a prompt left open in a terminal must not stop the hooks of
// an agent from saving. After the answer the operation plans again under the lock, and applies only a plan that the
// user has seen (I3).
import type { Project } from '../../model/index.js'
import { type StoreContext } from './context.js'
import type { Callbacks } from './callbacks.js'
import { withRecoveredProject } from '../restore/recover.js'
import type { PlanQuestion, RestoreResult } from '../restore/restore.js'

/**
 * Repeats the attempt until it has a result. Each attempt runs under the lock and gets the mark of the plan that the
 * user confirmed last; `hooks.confirm` is called between two attempts.
 */
export async function retryUntilConfirmed(
  context: StoreContext,
  project: Project,
  {
    purpose,
    callbacks,
    attempt,
  }: {
    readonly purpose: string
    readonly callbacks: Callbacks
    readonly attempt: (agreed: string | undefined) => Promise<RestoreResult | PlanQuestion>
  },
): Promise<RestoreResult> {
  let agreed: string | undefined
  for (;;) {
    const outcome = await withRecoveredProject(context, project, {
      purpose,
      callbacks,
      work: () => attempt(agreed),
    })
    if (!('isQuestion' in outcome)) return outcome
    const { plan, details, declined } = outcome
    if (callbacks.confirm !== undefined && !(await callbacks.confirm(plan, details)))
      return declined
    agreed = details.mark
  }
}
