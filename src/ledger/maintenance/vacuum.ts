// Removes unreferenced rows and returns free pages to the file system, in small transactions, so that a save in another process never
// waits long.
import type { Database } from '../../system/index.js'
import { collectDetails } from '../checkpoints/detail-rows.js'
import { number } from '../rows.js'
import { type CollectedStates, collectStates } from '../states/index.js'
import { LedgerTable } from '../ledger-table.js'

const PAGES_AT_ONCE = 100
const TRUNCATE_ATTEMPTS = 10

/** Call it before the first table is created: later, it would take a rewrite of the whole file. */
export function allowShrinking(database: Database): void {
  database.exec('PRAGMA file.auto_vacuum = INCREMENTAL')
}

export class Vacuum extends LedgerTable {
  /** `pause` lets other processes write between two batches. */
  async collect(pause: () => Promise<void>): Promise<CollectedStates> {
    const collected = await collectStates(this.database, pause)
    collectDetails(this.database)
    return collected
  }

  /** The size that the file will have after `shrink`. */
  bytesInUse(): number {
    const pages = number(this.database.get('PRAGMA file.page_count') ?? {}, 'page_count')
    const size = number(this.database.get('PRAGMA file.page_size') ?? {}, 'page_size')
    return (pages - this.#freePages()) * size
  }

  /** Releases all free pages, and truncates the write-ahead log. */
  async shrink(pause: () => Promise<void>): Promise<void> {
    while (this.#freePages() > 0) {
      const before = this.#freePages()
      this.database.exec(`PRAGMA file.incremental_vacuum(${PAGES_AT_ONCE})`)
      if (this.#freePages() >= before) break
      await pause()
    }
    await this.#truncateLog(pause)
  }

  /**
   * Truncating blocks writers, and would wait for readers meanwhile. So it truncates, without waiting, only once the whole log is
   * merged. If other processes keep writing, the next call tries again.
   */
  async #truncateLog(pause: () => Promise<void>): Promise<void> {
    for (let attempt = 0; attempt < TRUNCATE_ATTEMPTS; attempt += 1) {
      const { log, checkpointed } = this.database.get('PRAGMA file.wal_checkpoint(PASSIVE)') ?? {}
      if (log === checkpointed) {
        const truncate = () => this.database.get('PRAGMA file.wal_checkpoint(TRUNCATE)')
        if (this.database.withBusyTimeout(0, truncate)?.['busy'] === 0) return
      }
      await pause()
    }
  }

  #freePages(): number {
    return number(this.database.get('PRAGMA file.freelist_count') ?? {}, 'freelist_count')
  }
}
