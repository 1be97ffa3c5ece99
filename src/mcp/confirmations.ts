// Tokens by which an agent confirms that it has seen a plan. A token is valid once, for one plan and one state of the folder.
import { randomBytes } from 'node:crypto'
import type { PlanDetails } from '../index.js'

const MAX_KEPT = 100

export type Confirmations = {
  give(plan: ConfirmedPlan): string
  /** Whether the token was given for exactly this plan. Invalidates the token either way. */
  take(token: string, plan: ConfirmedPlan): boolean
}

/** Agents do not see the folder again before the rewind, so any change of it invalidates a token, even if the plan is the same. */
type ConfirmedPlan = Pick<PlanDetails, 'mark' | 'now'>

export function openConfirmations(): Confirmations {
  const kept = new Map<string, string>()
  return {
    give(plan) {
      const token = randomBytes(12).toString('hex')
      kept.set(token, textOf(plan))
      // Drop the oldest: a client that only plans must not fill the memory.
      const [oldest] = kept.keys()
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
      return token
    },
    take(token, plan) {
      const mark = kept.get(token)
      kept.delete(token)
      return mark === textOf(plan)
    },
  }
}

function textOf({ mark, now }: ConfirmedPlan): string {
  return `${mark} ${now}`
}
