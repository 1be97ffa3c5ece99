// A typed EventEmitter whose listeners cannot break the work that notifies them.
import { EventEmitter } from 'node:events'
import { isError } from '../model/index.js'

/** `Events`: each name with the arguments of its listeners. */
export class SafeEmitter<
  Events extends Record<keyof Events, unknown[]>,
> extends EventEmitter<Events> {
  /** Like `emit`, but a listener that throws is reported as a process warning. @internal */
  protected notify<Name extends keyof Events & string>(name: Name, ...given: Events[Name]): void {
    for (const listener of this.rawListeners(name as never)) {
      try {
        Reflect.apply(listener, this, given)
      } catch (error) {
        const cause = isError(error) ? (error.stack ?? error.message) : String(error)
        process.emitWarning(`A listener of ${name} has failed: ${cause}`, 'SavestateWarning')
      }
    }
  }
}
