// Starts a prune in a process of its own, so that no caller waits for it: some time after a save, or when the store
// is closed.
import { fileURLToPath } from 'node:url'
import { claimPrune, recordPruneNotStarted, type StoreContext } from '../../engine/index.js'
import { childProcess } from '../../system/index.js'

const LOOK_EVERY_MS = 600_000

export class AutoPrune {
  readonly #context: StoreContext
  readonly #timer: NodeJS.Timeout

  constructor(context: StoreContext) {
    this.#context = context
    this.#timer = setInterval(() => this.startIfDue(), LOOK_EVERY_MS)
    this.#timer.unref()
  }

  /** Also if closing the store fails: a check of a closed store would end the process. */
  stop(): void {
    clearInterval(this.#timer)
  }

  startIfDue(): void {
    if (!claimPrune(this.#context)) return
    const program = fileURLToPath(new URL('./prune-process.js', import.meta.url))
    const child = childProcess().spawn(process.execPath, [program, this.#context.home], {
      // Not in the caller's folder, which could then not be unmounted.
      cwd: this.#context.home,
      detached: true,
      stdio: 'ignore',
    })
    // Once it runs it reports to the store itself (`savestate status`).
    if (child.pid === undefined) recordPruneNotStarted(this.#context)
    // The same fault once more, when the store may be closed already.
    child.on('error', () => undefined)
    child.unref()
  }
}
