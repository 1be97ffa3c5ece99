// Converts LangGraph's configurations to places in a thread and back.
import { type BaseCheckpointSaver, getCheckpointId } from '@langchain/langgraph-checkpoint'
import { type GraphPlace, SavestateError } from '../index.js'

export type Config = Parameters<BaseCheckpointSaver['getTuple']>[0]

export type RequestedPlace = Omit<GraphPlace, 'id'> & { readonly id: string | undefined }

/** Undefined without a thread id. */
export function requestedPlace(config: Config): RequestedPlace | undefined {
  const thread = threadOf(config)
  if (thread === undefined) return undefined
  return { thread, ns: namespaceOf(config) ?? '', id: idOf(config) }
}

/** Throws BAD_INPUT without a thread id. `id` is that of the parent. */
export function requirePlace(config: Config): RequestedPlace {
  const place = requestedPlace(config)
  if (place !== undefined) return place
  throw new SavestateError('BAD_INPUT', 'The configuration has no configurable.thread_id', {
    hint: 'Pass { configurable: { thread_id } } when you run the graph.',
  })
}

/** Throws BAD_INPUT without a thread id or a checkpoint id. */
export function requireCheckpointPlace(config: Config): GraphPlace {
  const { id, ...place } = requirePlace(config)
  if (id !== undefined) return { ...place, id }
  throw new SavestateError('BAD_INPUT', 'The configuration has no configurable.checkpoint_id')
}

export function toConfig({ thread, ns, id }: GraphPlace): {
  configurable: { thread_id: string; checkpoint_ns: string; checkpoint_id: string }
} {
  return { configurable: { thread_id: thread, checkpoint_ns: ns, checkpoint_id: id } }
}

export function threadOf({ configurable }: Config): string | undefined {
  return textOf(configurable?.['thread_id'], 'thread_id')
}

export function namespaceOf({ configurable }: Config): string | undefined {
  return textOf(configurable?.['checkpoint_ns'], 'checkpoint_ns')
}

export function idOf(config: Config): string | undefined {
  return textOf(getCheckpointId(config) || undefined, 'checkpoint_id')
}

/** Null unless the caller sets a run id: LangGraph itself does not. */
export function runOf(config: Config, metadata: object): string | null {
  const own: unknown = Reflect.get(metadata, 'run_id')
  const run = own ?? config.metadata?.['run_id'] ?? config.runId
  return typeof run === 'string' ? run : null
}

/** Rejects a string: iterating over it would remove the threads named by its letters. */
export function parseIds(values: unknown, what: string): string[] {
  const isId = (value: unknown) => typeof value === 'string' || typeof value === 'number'
  if (Array.isArray(values) && values.every(isId)) return values.map(String)
  throw new SavestateError('BAD_INPUT', `${what} must be a list of strings`)
}

/** Rejects unknown strategies: treating one as the default could delete the wrong checkpoints. */
export function rejectStrategy(strategy: unknown): void {
  if (strategy === 'keep_latest' || strategy === 'delete') return
  throw new SavestateError('BAD_INPUT', `There is no strategy ${JSON.stringify(strategy)}`, {
    hint: 'Use keep_latest or delete.',
  })
}

/** Converts numbers, which are often used as thread ids, to text. */
function textOf(value: unknown, key: string): string | undefined {
  if (value === undefined || value === null) return undefined
  if (typeof value === 'string') return value
  if (typeof value === 'number') return String(value)
  throw new SavestateError('BAD_INPUT', `configurable.${key} is not a string`)
}
