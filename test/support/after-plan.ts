// Runs code between the plan of a rewind and its first change.
import { randomBytes } from 'node:crypto'
import type { StoreOptions } from '../../src/index.js'

type Clock = NonNullable<StoreOptions['clock']>

/** A rewind takes an id from this clock after it has planned and before it changes anything; there `act` is called once. */
export class PlanClock implements Clock {
  #act: (() => void) | undefined

  readonly nowMs = (): number => Date.now()

  readonly random = (bytes: number): Uint8Array => {
    const act = this.#act
    this.#act = undefined
    act?.()
    return randomBytes(bytes)
  }

  afterPlan(act: () => void): void {
    this.#act = act
  }
}
