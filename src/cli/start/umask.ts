// The store is private with any umask. A command that we start for the user gets the user's umask.

const PRIVATE = 0o077

let given: number | undefined

/** From now on only the owner can access files that this process creates. */
export function makePrivate(): void {
  given = process.umask(PRIVATE)
}

/** For starting a process. `start` must be synchronous, so that no other file gets this umask. */
export function withGivenUmask<Result>(start: () => Result): Result {
  if (given === undefined) return start()
  process.umask(given)
  try {
    return start()
  } finally {
    process.umask(PRIVATE)
  }
}
