// The plans that were shown and can be carried out, each once. A token is random, so only the page that got it knows it.
import { randomBytes } from 'node:crypto'
import { SavestateError } from '../../internal.js'
import type { PlanInput, PlanLine } from '../api.js'

/** A client that only plans must not fill the memory: 500,000 lines have about 100 MB. */
const MAX_TOKENS = 100
const MAX_LINES = 500_000

export type ShownPlan = {
  readonly input: PlanInput
  /** The snapshot of the folder that the plan was made for; null if no file is part of the plan. */
  readonly now: string | null
  /** The checkpoint that the files go back to. */
  readonly target: string | null
  /** The snapshot that the folder becomes. A merge may give another one for the same folder, with the same lines. */
  readonly goal: string | null
  readonly lines: readonly PlanLine[]
}

export class PlanTokens {
  readonly #plans = new Map<string, ShownPlan>()

  give(plan: ShownPlan): string {
    const token = randomBytes(24).toString('base64url')
    this.#plans.set(token, plan)
    let lines = 0
    for (const one of this.#plans.values()) lines += one.lines.length
    for (const [oldest, { lines: removed }] of this.#plans) {
      if (oldest === token || (this.#plans.size <= MAX_TOKENS && lines <= MAX_LINES)) break
      this.#plans.delete(oldest)
      lines -= removed.length
    }
    return token
  }

  /** The token is used up, whatever happens next. Throws PLAN_STALE. */
  take(token: string): ShownPlan {
    const plan = this.#plans.get(token)
    if (plan === undefined) throw stalePlan('the plan was used already, or is too old')
    this.#plans.delete(token)
    return plan
  }
}

export function stalePlan(why: string): SavestateError {
  return new SavestateError('PLAN_STALE', `Nothing was changed: ${why}`, {
    hint: 'Make the plan again.',
  })
}
