// The tokens with which an agent says that it has seen a plan. A token stands for one plan, made of one folder as it was
// at one moment, and is good once.
import { createHash, randomBytes } from 'node:crypto'
import type { PlanFacts, PlanView } from '../index.js'

const MAX_KEPT = 100

export type Confirmations = {
  /** A token for this plan. */
  give(plan: ConfirmedPlan): string
  /** Whether the token was given for exactly this plan. Whatever the answer, it is spent. */
  take(token: string, plan: ConfirmedPlan): boolean
}

export type ConfirmedPlan = PlanFacts & {
  readonly paths: readonly string[]
  readonly keepMine: boolean
  /** The rest does not settle it: who has changed a file can become known while the folder stays as it is. */
  readonly plan: Pick<PlanView, 'write' | 'remove'>
}

export function openConfirmations(): Confirmations {
  const kept = new Map<string, string>()
  return {
    give(plan) {
      const token = randomBytes(12).toString('hex')
      kept.set(token, markOf(plan))
      // The oldest goes: a client that only ever plans must not fill the memory.
      const [oldest] = kept.keys()
      if (kept.size > MAX_KEPT && oldest !== undefined) kept.delete(oldest)
      return token
    },
    take(token, plan) {
      const mark = kept.get(token)
      kept.delete(token)
      return mark === markOf(plan)
    },
  }
}

function markOf({ target, goal, now, paths, keepMine, plan }: ConfirmedPlan): string {
  const [write, remove] = [plan.write, plan.remove].map((items) => items.map(({ path }) => path))
  return createHash('sha256')
    .update(JSON.stringify([target, goal, now, paths, keepMine, write, remove]))
    .digest('hex')
}
