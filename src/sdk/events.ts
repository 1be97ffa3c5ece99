// Typed events. A listener that throws cannot break what it listens to: its error is told as a warning.
import { isError } from '../model/index.js'

export class Events<Map extends Record<string, unknown>> {
  readonly #listeners = new globalThis.Map<keyof Map, Set<(event: never) => void>>()

  /** Returns the way to stop listening. */
  on<Name extends keyof Map>(name: Name, listener: (event: Map[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set()
    this.#listeners.set(name, listeners)
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }

  emit<Name extends keyof Map>(name: Name, event: Map[Name]): void {
    for (const listener of this.#listeners.get(name) ?? []) {
      try {
        listener(event as never)
      } catch (error) {
        const cause = isError(error) ? (error.stack ?? error.message) : String(error)
        process.emitWarning(
          `A listener of ${String(name)} has failed: ${cause}`,
          'SavestateWarning',
        )
      }
    }
  }
}
