// The results of an unfinished bisect, kept in the store after each run, so that the same bisect continues after an interruption. By the
// id of the snapshot: another range, or new checkpoints meanwhile, use the same results.
import { createHash } from 'node:crypto'
import { fieldsOf, tryParseJson } from '../../base/index.js'
import type { Project } from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import { changeNote, readNote } from '../store/kv-notes.js'
import type { Verdict } from './locate.js'

/** The results of all runs of one state, in their order. */
export type Outcomes = readonly Verdict[]

const KEEP_DAYS = 30

export class KeptResults {
  readonly #context: StoreContext
  readonly #key: string | undefined
  readonly #results = new Map<string, Outcomes>()
  /** The folder of a killed process. */
  readonly leftFolder: string | undefined

  /** `name` identifies what runs; without it nothing is kept. */
  constructor(context: StoreContext, project: Project, name: string | undefined) {
    this.#context = context
    if (name === undefined) return
    const hash = createHash('sha256').update(name).digest('hex').slice(0, 32)
    this.#key = `bisect:${project.id}:${hash}`
    const { folder, results } = fieldsOf(tryParseJson(readNote(context, this.#key) ?? ''))
    this.leftFolder = typeof folder === 'string' ? folder : undefined
    for (const [tree, outcomes] of Object.entries(fieldsOf(results)))
      if (Array.isArray(outcomes) && outcomes.every(isVerdict)) this.#results.set(tree, outcomes)
  }

  of(tree: string): Outcomes | undefined {
    return this.#results.get(tree)
  }

  /** `folder`: the one in use. */
  keep(folder: string, tree?: string, outcomes: Outcomes = []): void {
    if (tree !== undefined) this.#results.set(tree, outcomes)
    this.#write(JSON.stringify({ folder, results: Object.fromEntries(this.#results) }))
  }

  /** The folder was removed. */
  keepWithoutFolder(): void {
    this.#write(JSON.stringify({ results: Object.fromEntries(this.#results) }))
  }

  forget(): void {
    this.#results.clear()
    this.#write(undefined)
  }

  #write(text: string | undefined): void {
    if (this.#key === undefined) return
    changeNote(this.#context, { key: this.#key, keepDays: KEEP_DAYS, change: () => text })
  }
}

function isVerdict(value: unknown): value is Verdict {
  return value === 'good' || value === 'bad' || value === 'skip'
}
