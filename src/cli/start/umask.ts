// The store is its owner's alone whatever the shell says, but a command that we start for somebody gets the umask they set.

const PRIVATE = 0o077

let given: number | undefined

/** From now on what this process makes is its owner's alone. */
export function makePrivate(): void {
  given = process.umask(PRIVATE)
}

/** For the moment in which a process is started: nothing else may be under way. */
export function withGivenUmask<Result>(start: () => Result): Result {
  if (given === undefined) return start()
  process.umask(given)
  try {
    return start()
  } finally {
    process.umask(PRIVATE)
  }
}
