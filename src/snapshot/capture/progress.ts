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
  readonly #report: (progress: CaptureProgress) => void
  #next = Date.now() + EVERY_MS
  #of = 0
  #nextLook = FILES_PER_LOOK
  #files = 0
  #bytes = 0

  constructor(report: (progress: CaptureProgress) => void) {
    this.#report = report
  }

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
    this.#tell({
      phase: 'store',
      files: this.#files,
      bytes: this.#bytes,
      of: Math.max(this.#of, this.#files),
    })
  }

  #tell(progress: CaptureProgress): void {
    const now = Date.now()
    if (now < this.#next) return
    this.#next = now + EVERY_MS
    this.#report(progress)
  }
}
