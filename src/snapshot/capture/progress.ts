// Reports the progress of a capture or a restore, at most every 50 ms.

export type CaptureProgress = {
  /** `check` counts objects of the store, `seal` rows of the ledger, `import` and `index` checkpoints; the others count files. */
  readonly phase: 'scan' | 'store' | 'check' | 'seal' | 'import' | 'index'
  readonly files: number
  readonly bytes: number
  /** The total, as far as it is known. */
  readonly of: number
}

export type OnProgress = (progress: CaptureProgress) => void

const EVERY_MS = 50
/** A scan reports every file, so the clock is read only once per this many. */
const FILES_PER_CHECK = 100

export class ProgressCounter {
  /** Rejects if the caller cancels while contents are stored; never resolves. */
  readonly cancelled: Promise<never>
  #cancel: (error: unknown) => void = () => undefined
  readonly #report: OnProgress
  #next = Date.now() + EVERY_MS
  #of = 0
  #nextCheck = FILES_PER_CHECK
  #files = 0
  #bytes = 0

  constructor(report: OnProgress) {
    this.#report = report
    this.cancelled = new Promise((_, reject) => {
      this.#cancel = reject
    })
    // A cancel after the capture has ended must not count as an unhandled rejection; before that, the capture awaits it.
    this.cancelled.catch(() => undefined)
  }

  /** Throws if the caller has cancelled. */
  scanned(files: number): void {
    if (files < this.#nextCheck) return
    this.#nextCheck = files + FILES_PER_CHECK
    this.#reportIfDue({ phase: 'scan', files, bytes: 0, of: files })
  }

  toStore(of: number): void {
    this.#of = of
  }

  stored(files: number, bytes: number): void {
    this.#files += files
    this.#bytes += bytes
    const done = { files: this.#files, bytes: this.#bytes }
    // Event handlers call this too, and an exception there would end the thread.
    try {
      this.#reportIfDue({ phase: 'store', ...done, of: Math.max(this.#of, done.files) })
    } catch (error) {
      this.#cancel(error)
    }
  }

  #reportIfDue(progress: CaptureProgress): void {
    const now = Date.now()
    if (now < this.#next) return
    this.#next = now + EVERY_MS
    this.#report(progress)
  }
}
