// Knows every checkpoint that was acknowledged. The remote may have more, never less, and never two for one step of a session.
import type { Acknowledged, ToModel } from './messages.js'

export class SharedModel {
  readonly #checkpoints = new Map<string, Map<string, Acknowledged>>()
  readonly #effects = new Set<string>()
  readonly faults: string[] = []
  readonly counts = new Map<string, number>()

  hear(message: ToModel): void {
    switch (message.kind) {
      case 'acknowledged':
        return this.#acknowledge(message.checkpoint)
      case 'effect': {
        const effect = `${message.session} ${message.call}`
        if (this.#effects.has(effect)) this.fault(`${effect} ran twice`)
        this.#effects.add(effect)
        return
      }
      case 'done':
        this.counts.set(message.what, (this.counts.get(message.what) ?? 0) + 1)
        return
      case 'fault':
        return this.fault(`${message.what}: ${message.message}`)
    }
  }

  /** In the order of their steps. */
  of(session: string): readonly Acknowledged[] {
    const all = [...(this.#checkpoints.get(session)?.values() ?? [])]
    return all.toSorted((a, b) => a.step - b.step)
  }

  get acknowledged(): number {
    return [...this.#checkpoints.values()].reduce((sum, { size }) => sum + size, 0)
  }

  fault(message: string): void {
    this.faults.push(message)
  }

  #acknowledge(checkpoint: Acknowledged): void {
    const { session, id, step } = checkpoint
    const known = this.#checkpoints.get(session) ?? new Map<string, Acknowledged>()
    this.#checkpoints.set(session, known)
    // Two writers under one lease would both be acknowledged.
    const other = [...known.values()].find((each) => each.step === step && each.id !== id)
    if (other !== undefined)
      this.fault(`step ${step} of ${session} was acknowledged as ${other.id} and as ${id}`)
    known.set(id, checkpoint)
  }
}
