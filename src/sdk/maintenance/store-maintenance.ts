// The settings of the store, and projects that were moved.
import * as engine from '../../engine/index.js'
import type { OpenContext } from '../opening/open-context.js'
import { splitOptions } from '../call-options.js'
import type { ImportCheckpointsOptions } from '../store-types.js'

/** The settings of the store, and projects that were moved. Made by `store.maintenance`. */
export class Maintenance {
  readonly #context: OpenContext

  private constructor(context: OpenContext) {
    this.#context = context
  }

  /** @internal */
  static make(context: OpenContext): Maintenance {
    return new Maintenance(context)
  }

  /** Removals by automatic prunes that no user has seen yet. Show them, then mark them as shown. @internal */
  async autoPruned(): Promise<engine.AutoPruneRecord | undefined> {
    return this.#context.calls.run(async () => {
      const record = engine.readAutoPrune(this.#context)
      return record === null || record.isShown ? undefined : record
    })
  }

  /** @internal */
  async markAutoPruneShown(record: engine.AutoPruneRecord): Promise<void> {
    return this.#context.calls.run(async () => engine.markAutoPruneShown(this.#context, record))
  }

  /** Every setting of the store, and whether config.json sets it. */
  async config(): Promise<engine.ConfigResult> {
    return this.#context.calls.run(async () => engine.storeConfig(this.#context))
  }

  /** Changes a setting in the store's config.json; without a value it is removed. Throws BAD_INPUT. */
  async setConfig(key: string, value?: unknown): Promise<void> {
    return this.#context.calls.run(() => engine.setStoreConfig(this.#context, { key, value }))
  }

  /** Moves the history of a folder that was moved to its new path. Throws BAD_INPUT if `from` still exists. */
  async moveProject(from: string, to: string): Promise<engine.MoveResult> {
    const input = { from, to }
    return this.#context.calls.perform(engine.moveProject, this.#context, { input })
  }

  /**
   * Adds checkpoints that were made elsewhere, with their files, times and origins. Checkpoints that were imported before
   * are not added again, and what cannot be read is listed with the reason.
   * @internal
   */
  async importCheckpoints(
    options: ImportCheckpointsOptions,
  ): Promise<engine.ImportCheckpointsResult> {
    const split = splitOptions('importCheckpoints', options, { asks: 'confirmImport' })
    return this.#context.calls.perform(engine.importCheckpoints, this.#context, split)
  }

  /** Counts the checkpoints that `session.import` would add to the session of that id, which need not exist. @internal */
  async planImport(id: string, checkpoints: engine.ExchangedItems): Promise<engine.ImportOutlook> {
    const input = { session: id, checkpoints }
    return this.#context.calls.perform(engine.planImport, this.#context, { input })
  }
}
