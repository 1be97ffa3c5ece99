// The settings of the store, and what it did by itself.
import * as engine from '../../engine/index.js'
import { MIN_PREFIX } from '../../model/index.js'
import { explained } from '../opening/with-system-errors.js'
import type { OpenContext } from '../opening/open-context.js'

export class Maintenance {
  readonly #context: OpenContext

  /** Use `store.maintenance`. */
  constructor(context: OpenContext) {
    this.#context = context
  }

  /** Removals by automatic prunes that no user has seen yet. Show them, then mark them as shown. */
  async autoPruned(): Promise<engine.AutoPruneRecord | undefined> {
    return this.#do(async () => {
      const record = engine.readAutoPrune(this.#context)
      return record === null || record.isShown ? undefined : record
    })
  }

  async markAutoPruneShown(record: engine.AutoPruneRecord): Promise<void> {
    return this.#do(async () => engine.markAutoPruneShown(this.#context, record))
  }

  /** Every setting of the store, and whether config.json sets it. */
  async config(): Promise<engine.ConfigResult> {
    return this.#do(async () => engine.storeConfig(this.#context))
  }

  /** Changes a setting in the store's config.json; without a value it is removed. Throws BAD_INPUT. */
  async setConfig(key: string, value?: unknown): Promise<void> {
    return this.#do(() => engine.setStoreConfig(this.#context, { key, value }))
  }

  /** Takes the history of a folder that was moved along to where it is now. Throws BAD_INPUT if `from` still exists. */
  async moveProject(from: string, to: string): Promise<engine.MoveResult> {
    const { calls } = this.#context
    return calls.during(() =>
      engine.perform(engine.moveProject, this.#context, { input: { from, to } }),
    )
  }

  /** The shortest prefix of each id that no other checkpoint of the store has. A reference needs four letters or more. */
  async shortIds(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const { checkpoints } = this.#context.ledger
    return this.#do(
      async () => new Map(ids.map((id) => [id, shortId(id, checkpoints.neighborsOf(id))])),
    )
  }

  #do<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#context.calls.during(() => explained(work))
  }
}

function shortId(id: string, others: readonly string[]): string {
  let letters = MIN_PREFIX
  while (others.some((other) => other.startsWith(id.slice(0, letters)))) letters += 1
  return id.slice(0, letters)
}
