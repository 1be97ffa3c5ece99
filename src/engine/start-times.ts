// When the tool calls of an open session have begun. The journal tells two attempts at one call apart by that, and a
// millisecond is long enough for a call, a rewind and the call again.

/** More than begin before the clock goes on. */
const MAX_KEPT = 1000

export class StartTimes {
  readonly #used = new Set<number>()

  /** The time, or the next one that no other call has had. */
  next(nowMs: number): number {
    let atMs = nowMs
    while (this.#used.has(atMs)) atMs += 1
    this.#used.add(atMs)
    const [oldest] = this.#used
    if (this.#used.size > MAX_KEPT && oldest !== undefined) this.#used.delete(oldest)
    return atMs
  }
}
