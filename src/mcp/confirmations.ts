// The tokens with which an agent says that it has seen a plan. A token stands for one plan, made of one folder as it was
// at one moment, and is good once.
import { randomBytes } from 'node:crypto'
import type { PlanFacts } from '../index.js'

const MAX_KEPT = 100

export type Confirmations = {
  /** A token for this plan. */
  give(plan: ConfirmedPlan): string
  /** Whether the token was given for exactly this plan. Whatever the answer, it is spent. */
  take(token: string, plan: ConfirmedPlan): boolean
}

/** Agents get no second look at the folder, so any change of it ends a token, not only one that changes the plan. */
export type ConfirmedPlan = Pick<PlanFacts, 'mark' | 'now'>

export function openConfirmations(): Confirmations {
  const kept = new Map<string, string>()
  return {
    give(plan) {
      const token = randomBytes(12).toString('hex')
      kept.set(token, textOf(plan))
      // The oldest goes: a client that only ever plans must not fill the memory.
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
