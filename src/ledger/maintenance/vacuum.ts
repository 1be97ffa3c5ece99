// Gives room back: rows that nobody refers to, and the pages they leave. In small transactions, so that a save in
// another process never waits long.
import type { Database } from '../../system/index.js'
import { collectDetails } from '../checkpoints/detail-rows.js'
import { number } from '../rows.js'
import { type CollectedStates, collectStates } from '../states/index.js'

const PAGES_AT_ONCE = 100
const CUT_ATTEMPTS = 10

/** To be called before the first table is made: afterwards it takes a rewrite of the whole file. */
export function allowShrinking(database: Database): void {
  database.exec('PRAGMA file.auto_vacuum = INCREMENTAL')
}

export class Vacuum {
  readonly #database: Database

  constructor(database: Database) {
    this.#database = database
  }

  /** `pause` lets others have a turn. */
  async collect(pause: () => Promise<void>): Promise<CollectedStates> {
    const collected = await collectStates(this.#database, pause)
    collectDetails(this.#database)
    return collected
  }

  /** What the file will take when it is as small as what is in it, the log included. */
  bytesInUse(): number {
    const pages = number(this.#database.get('PRAGMA file.page_count') ?? {}, 'page_count')
    const size = number(this.#database.get('PRAGMA file.page_size') ?? {}, 'page_size')
    return (pages - this.#freePages()) * size
  }

  /** Makes the file as small as what is in it. */
  async shrink(pause: () => Promise<void>): Promise<void> {
    while (this.#freePages() > 0) {
      const before = this.#freePages()
      this.#database.exec(`PRAGMA file.incremental_vacuum(${PAGES_AT_ONCE})`)
      if (this.#freePages() >= before) break
      await pause()
    }
    await this.#cutLog(pause)
  }

  /**
   * Writers wait while the log is cut off. So that is done only where nobody has just added to it, and is left to the next
   * time if somebody always has.
   */
  async #cutLog(pause: () => Promise<void>): Promise<void> {
    for (let attempt = 0; attempt < CUT_ATTEMPTS; attempt += 1) {
      const { log, checkpointed } = this.#database.get('PRAGMA file.wal_checkpoint(PASSIVE)') ?? {}
      if (log === checkpointed && this.#isCut()) return
      await pause()
    }
  }

  #isCut(): boolean {
    // It would wait for readers while it keeps the writers out.
    const row = this.#database.waitingAtMost(0, () =>
      this.#database.get('PRAGMA file.wal_checkpoint(TRUNCATE)'),
    )
    return row?.['busy'] === 0
  }

  #freePages(): number {
    return number(this.#database.get('PRAGMA file.freelist_count') ?? {}, 'freelist_count')
  }
}
