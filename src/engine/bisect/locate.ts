// The binary search, as in `git bisect`. Pure: the verdicts so far in, the next state to try out.

/** `skip`: the state says nothing, such as one that does not build. */
export type Verdict = 'good' | 'bad' | 'skip'

export type Located = {
  /** The last good state before `bad`. */
  readonly good: number
  /** The first state that is known to be bad. */
  readonly bad: number
  /** The state to try next; undefined if only skipped states are between `good` and `bad`. */
  readonly next: number | undefined
  /** At most so many states are still to be tried. */
  readonly left: number
}

/** Oldest first. The first state counts as good, and the last one as bad. Equal verdicts always lead to the same next state. */
export function locate(verdicts: readonly (Verdict | undefined)[]): Located {
  let [good, bad] = [0, verdicts.length - 1]
  for (;;) {
    const open = verdicts.flatMap((verdict, at) =>
      at > good && at < bad && verdict !== 'skip' ? [at] : [],
    )
    const middle = open[(open.length - 1) >> 1]
    const left = Math.ceil(Math.log2(open.length + 1))
    if (middle === undefined) return { good, bad, next: undefined, left }
    const verdict = verdicts[middle]
    if (verdict === undefined) return { good, bad, next: middle, left }
    if (verdict === 'good') good = middle
    else bad = middle
  }
}
