// The model outside of the store knows everything that was acknowledged. The store may contain more, never less.
import { differenceOf } from './folder.js'
import type { Known } from './messages.js'

type Step = { readonly step: number; readonly digest: string }

export class Model {
  readonly #known = new Map<string, Known[]>()
  /** By session: the newest step that was acknowledged. */
  readonly #steps = new Map<string, Step>()
  readonly faults: string[] = []
  readonly counts = new Map<string, number>()
  /** Periodic samples of the process that is never killed. */
  readonly memoryMb: number[] = []

  count(what: string): void {
    this.counts.set(what, (this.counts.get(what) ?? 0) + 1)
  }

  saved(project: string, known: Known): void {
    const all = this.#known.get(project) ?? []
    const before = all.find(({ id }) => id === known.id)
    const difference = before && differenceOf(known.lines, before.lines)
    if (difference !== undefined)
      this.fault(`${known.id} was acknowledged twice, and not as the same: ${difference}`)
    const isProtected = known.isProtected || before?.isProtected === true
    this.#known.set(project, [
      ...all.filter(({ id }) => id !== known.id),
      { ...known, isProtected },
    ])
  }

  /** Allowed only for checkpoints that a prune may drop. */
  missing(project: string, id: string): void {
    const known = this.of(project).find((each) => each.id === id)
    if (known?.isProtected === true) this.fault(`${id} is named or pinned, and it is gone`)
    this.#known.set(
      project,
      this.of(project).filter((each) => each.id !== id),
    )
  }

  stepped(session: string, step: Step): void {
    const last = this.#steps.get(session)
    if (last !== undefined && step.step !== last.step + 1)
      this.fault(`${session} went from step ${last.step} to ${step.step}`)
    this.#steps.set(session, step)
  }

  /** The store may contain one more than was acknowledged; the model then adopts it. */
  resumed(session: string, { step, digest }: Step): void {
    const last = this.#steps.get(session)
    if (last !== undefined && step < last.step)
      this.fault(`${session} had step ${last.step} and resumed at ${step}`)
    if (last?.step === step && last.digest !== digest)
      this.fault(`${session} resumed at step ${step} with another state`)
    if (last !== undefined && step > last.step + 1)
      this.fault(`${session} resumed at step ${step}, ${step - last.step} after the last`)
    if (step >= 0) this.#steps.set(session, { step, digest })
  }

  of(project: string): readonly Known[] {
    return this.#known.get(project) ?? []
  }

  get sessions(): ReadonlyMap<string, Step> {
    return this.#steps
  }

  fault(message: string): void {
    this.faults.push(message)
  }
}
