// Runs one job at a time. Calls that come while it runs share the next run: it starts after they were made, so it includes their work.

export class GroupCommit {
  readonly #work: () => Promise<void>
  #running: Promise<void> | undefined
  #next: Promise<void> | undefined

  constructor(work: () => Promise<void>) {
    this.#work = work
  }

  /** Whether no run is under way or about to start. */
  get isIdle(): boolean {
    return this.#running === undefined && this.#next === undefined
  }

  /** Resolves once a run that started after this call is done. */
  run(): Promise<void> {
    // Between two runs, the next one is about to start.
    if (this.#running === undefined) return this.#next ?? this.#start()
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
