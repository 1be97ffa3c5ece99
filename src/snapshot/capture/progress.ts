// How far a capture or a restore is, told now and then.

export type CaptureProgress = {
  /** Not of files of the project: `check` (objects of the store), `seal` (rows of the ledger), `import` (checkpoints). */
  readonly phase: 'scan' | 'store' | 'check' | 'seal' | 'import'
  readonly files: number
  readonly bytes: number
  /** Files in all, as far as is known. */
  readonly of: number
}

const EVERY_MS = 50
/** The clock is looked at only now and then: a scan counts every file. */
const FILES_PER_LOOK = 100

export class ProgressCounter {
  /** Rejects if the caller cancels while contents are stored; never resolves. */
  readonly cancelled: Promise<never>
  readonly #cancel: (error: unknown) => void
  readonly #report: (progress: CaptureProgress) => void
  #next = Date.now() + EVERY_MS
  #of = 0
  #nextLook = FILES_PER_LOOK
  #files = 0
  #bytes = 0

  constructor(report: (progress: CaptureProgress) => void) {
    this.#report = report
    const { promise, reject } = withReject()
    this.cancelled = promise
    this.#cancel = reject
  }

  /** Throws if the caller has cancelled. */
  scanned(files: number): void {
    if (files < this.#nextLook) return
    this.#nextLook = files + FILES_PER_LOOK
    this.#tell({ phase: 'scan', files, bytes: 0, of: files })
  }

  toStore(of: number): void {
    this.#of = of
  }

  stored(files: number, bytes: number): void {
    this.#files += files
    this.#bytes += bytes
    const [done, bytesDone] = [this.#files, this.#bytes]
    // Called from event handlers too, where an exception would end the thread.
    try {
      this.#tell({ phase: 'store', files: done, bytes: bytesDone, of: Math.max(this.#of, done) })
    } catch (error) {
      this.#cancel(error)
    }
  }

  #tell(progress: CaptureProgress): void {
    const now = Date.now()
    if (now < this.#next) return
    this.#next = now + EVERY_MS
    this.#report(progress)
  }
}

function withReject(): {
  readonly promise: Promise<never>
  readonly reject: (error: unknown) => void
} {
  let reject: (error: unknown) => void = () => undefined
  const promise = new Promise<never>((_, fail) => {
    reject = fail
  })
  // Most captures are not cancelled, and some are over by then.
  promise.catch(() => undefined)
  return { promise, reject: (error) => reject(error) }
}
