// Counts running work, and measures how long the daemon has been idle.

export class Workload {
  /** The number of requests that were accepted. */
  served = 0
  #underWay = 0
  #quietSinceMs = performance.now()
  #waiting: (() => void)[] = []

  /** Returns a function to call once, at the end of the work. */
  begin(): () => void {
    this.#underWay += 1
    return () => {
      this.#underWay -= 1
      this.#quietSinceMs = performance.now()
      if (this.#underWay > 0) return
      for (const resume of this.#waiting.splice(0)) resume()
    }
  }

  get underWay(): number {
    return this.#underWay
  }

  /** How long there has been no work. */
  get quietMs(): number {
    return this.#underWay > 0 ? 0 : performance.now() - this.#quietSinceMs
  }

  async untilQuiet(): Promise<void> {
    if (this.#underWay === 0) return
    await new Promise<void>((resolve) => this.#waiting.push(resolve))
  }
}
