// Runs one job at a time. Calls that come while it runs share the next run: it starts after they were made, so it includes their work.

export class GroupCommit {
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  get isRunning(): boolean {
    return this.#running !== undefined
  }

  /** Resolves once a run that started after this call is done. */
  run(): Promise<void> {
    if (this.#running === undefined) return this.#start()
    this.#next ??= this.#running.then(
      () => this.#startNext(),
      // The failed run has told its own callers.
      () => this.#startNext(),
    )
    return this.#next
  }

  #startNext(): Promise<void> {
    this.#next = undefined
    return this.#start()
  }

  #start(): Promise<void> {
    const done = () => {
      if (this.#running === run) this.#running = undefined
    }
    const run = this.#work()
    this.#running = run
    run.then(done, done)
    return run
  }
}
