// Knows everything that was acknowledged, from the record of the processes. The remote may have more, never less.
import type { Acknowledged, Entry } from './messages.js'

export class SharedModel {
  readonly faults: string[] = []
  /** How often each unit of work ended in each way. */
  readonly counts = new Map<string, number>()
  readonly acknowledged: Acknowledged[] = []
  /** Checkpoints that a prune was about to remove. */
  readonly pruned = new Set<string>()
  /** Messages that were saved on a host and not shared at once. */
  readonly kept: { readonly session: string; readonly token: string }[] = []
  readonly #calls = new Map<string, Call>()
  runs = 0
  returns = 0

  hear(entry: Entry): void {
    switch (entry.kind) {
      case 'saved':
        this.acknowledged.push(entry)
        return
      case 'kept':
        this.kept.push(entry)
        return
      case 'pruning':
        for (const id of entry.ids) this.pruned.add(id)
        return
      case 'effect':
        return this.#ran(entry)
      case 'retrying':
        this.#call(entry.call).retries.add(entry.process)
        return
      case 'resolving':
        this.#call(entry.call).possible.add(entry.value)
        return
      case 'returned':
        return this.#returned(entry)
      case 'done':
        this.counts.set(entry.what, (this.counts.get(entry.what) ?? 0) + 1)
        return
      case 'fault':
        return this.fault(`${entry.process}, ${entry.what}: ${entry.message}`)
    }
  }

  fault(message: string): void {
    this.faults.push(message)
  }

  /** A call runs once, and again only in a process that has resolved it as `retry`. */
  #ran({ call: id, value, process }: Entry & { readonly kind: 'effect' }): void {
    const call = this.#call(id)
    this.runs += 1
    if (call.hasRun && !call.retries.delete(process)) this.fault(`${id} ran twice, in ${process}`)
    if (call.returned !== undefined) this.fault(`${id} ran in ${process} after it had returned`)
    call.hasRun = true
    call.possible.add(value)
  }

  /** The first value that any process gets is the value for all. */
  #returned({ call: id, value, process }: Entry & { readonly kind: 'returned' }): void {
    const call = this.#call(id)
    this.returns += 1
    if (!call.possible.has(value)) this.fault(`${id} returned ${value} in ${process}, from nowhere`)
    call.returned ??= { value }
    if (call.returned.value !== value)
      this.fault(`${id} returned ${value} in ${process}, and ${call.returned.value} before`)
  }

  #call(id: string): Call {
    const known = this.#calls.get(id)
    if (known !== undefined) return known
    const call = { hasRun: false, retries: new Set<string>(), possible: new Set<string | null>() }
    this.#calls.set(id, call)
    return call
  }
}

type Call = {
  hasRun: boolean
  /** The processes that may run it again. */
  readonly retries: Set<string>
  readonly possible: Set<string | null>
  returned?: { readonly value: string | null }
}
