// The JSON form of a session: Breakpilot's list of { id, name, timestamp, data, metadata }, in which a later checkpoint may
// have the changes of its state instead of the whole (docs/internals/sessions.md#export). Breakpilot requires names and has no reasons, so
// `reason` and `isNamed` are our own keys.
import * as z from 'zod/mini'
import {
  ChangingState,
  type Checkpoint,
  parseName,
  parseReason,
  SavestateError,
  type StateChange,
} from '../../model/index.js'
import { describeInputError } from '../operation/input-errors.js'
import { wholeText } from '../operation/input-schemas.js'

export type ExchangedCheckpoint = {
  readonly id: string
  /** The reason, or `checkpoint`, if it has no name. */
  readonly name: string
  readonly reason?: string
  readonly isNamed?: false
  readonly timestamp: string
  /** The whole state; absent if there are `changes`. */
  readonly data?: unknown
  /** Changes since the state of the previous item. */
  readonly changes?: readonly StateChange[]
  readonly metadata: unknown
}

/** Exported checkpoints, oldest first: a list, or a stream that is read as it arrives. */
export type ExchangedItems = Iterable<unknown> | AsyncIterable<unknown>

export function isItems(value: unknown): value is ExchangedItems {
  if (typeof value !== 'object' || value === null) return false
  return Symbol.iterator in value || Symbol.asyncIterator in value
}

const BATCH = 64

export async function* batchesOf(items: ExchangedItems): AsyncGenerator<readonly unknown[]> {
  let batch: unknown[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < BATCH) continue
    yield batch
    batch = []
  }
  yield batch
}

const path = () => z.array(z.string())
const keyPath = () => path().check(z.minLength(1))
const itemSchema = () =>
  z.object({
    id: wholeText(),
    name: z.nullish(z.string()),
    reason: z.optional(z.string()),
    isNamed: z.optional(z.boolean()),
    timestamp: z.string(),
    data: z.optional(z.unknown()),
    changes: z.optional(
      z.array(
        z.union([
          z.strictObject({
            path: path(),
            keep: z.optional(z.int().check(z.nonnegative())),
            append: z.array(z.unknown()),
          }),
          z.strictObject({ path: keyPath(), remove: z.literal(true) }),
          z
            .strictObject({ path: keyPath(), set: z.unknown() })
            .check(z.refine((change) => 'set' in change)),
        ]),
      ),
    ),
    metadata: z.optional(z.unknown()),
  })

export type ExchangedItem = Pick<Checkpoint, 'name' | 'reason' | 'createdAtMs'> & {
  readonly id: string
  readonly metadata: unknown
  /** Items added to lists of the state before, if nothing else is different. */
  readonly additions: readonly Addition[] | undefined
}
type Addition = { readonly path: readonly string[]; readonly append: readonly unknown[] }

/** Checks items one by one and applies the changes of their states. */
export class ItemReader {
  readonly #schema = itemSchema()
  readonly #state = new ChangingState()
  #count = 0

  /** The state of the item that was read last. The next item may change it. */
  get state(): unknown {
    return this.#state.value
  }

  /** Throws BAD_INPUT. */
  read(value: unknown): ExchangedItem {
    const at = ['checkpoints', this.#count]
    this.#count += 1
    const parsed = this.#schema.safeParse(value)
    if (!parsed.success) {
      const faults = parsed.error.issues.map((issue) =>
        describeInputError({ ...issue, path: [...at, ...issue.path] }),
      )
      throw new SavestateError('BAD_INPUT', `import: ${faults.join('; ')}`)
    }
    const { id, timestamp, data, metadata } = parsed.data
    const changes: readonly StateChange[] | undefined = parsed.data.changes
    if (changes === undefined) this.#state.replace(data ?? null)
    else this.#change(changes, at.join('.'))
    const additions = changes?.filter(isAddition)
    return {
      id,
      ...labelOf(parsed.data),
      createdAtMs: parseTime(timestamp),
      metadata,
      additions: additions?.length === changes?.length ? additions : undefined,
    }
  }

  #change(changes: readonly StateChange[], at: string): void {
    try {
      for (const change of changes) this.#state.apply(change)
    } catch (cause) {
      if (!(cause instanceof SavestateError)) throw cause
      throw new SavestateError('BAD_INPUT', `import: ${at}: ${cause.message}`, {
        hint: 'Each item of an export needs the items before it. Import the whole file.',
        cause,
      })
    }
  }
}

function isAddition(change: StateChange): change is StateChange & Addition {
  return 'append' in change && change.keep === undefined
}

type Label = {
  readonly name?: string | null | undefined
  readonly reason?: string | undefined
  readonly isNamed?: boolean | undefined
}

/** An invalid name, such as a text of many lines, becomes the reason if there is none. */
export function labelOf(given: Label): Pick<Checkpoint, 'name' | 'reason'> {
  const { name, isNamed } = given
  const reason = given.reason === undefined ? null : parseReason(given.reason)
  if (name === null || name === undefined || isNamed === false) return { name: null, reason }
  try {
    return { name: parseName(name), reason }
  } catch (error) {
    if (!(error instanceof SavestateError) || error.code !== 'BAD_INPUT') throw error
    return { name: null, reason: reason ?? parseReason(name) }
  }
}

export function parseTime(text: string): number {
  // Breakpilot writes UTC without a zone.
  const hasZone = /(?:Z|[+-]\d\d:?\d\d)$/i.test(text)
  const ms = Date.parse(hasZone ? text : `${text}Z`)
  if (!Number.isNaN(ms)) return ms
  throw new SavestateError('BAD_INPUT', `${JSON.stringify(text)} is not a time`, {
    hint: 'Write it as in 2026-11-15T12:00:00Z.',
  })
}
