// Savers over scratch stores, and checkpoints to put into them.
import {
  type BaseCheckpointSaver,
  type Checkpoint,
  type CheckpointListOptions,
  type CheckpointMetadata,
  type CheckpointTuple,
  uuid6,
} from '@langchain/langgraph-checkpoint'
import { SavestateSaver } from '../../src/langgraph/saver.js'
import { type Scratch, scratch } from '../support/scratch.js'

export { SavestateSaver }
export type Saver = InstanceType<typeof SavestateSaver>
export type Config = Parameters<BaseCheckpointSaver['getTuple']>[0]

export type SaverScratch = AsyncDisposable & {
  readonly it: Scratch
  readonly saver: Saver
  /** Another saver over the same store, opened again. */
  reopen(): Promise<Saver>
}

export async function scratchSaver(): Promise<SaverScratch> {
  const it = await scratch()
  // A store without worker threads opens in half the time.
  const open = async () => new SavestateSaver({ store: await it.open({ inProcess: true }) })
  return { it, saver: await open(), reopen: open, [Symbol.asyncDispose]: () => it.dispose() }
}

/** Where a run of a thread starts, or continues. */
export function at(thread: unknown, { ns = '', id }: { ns?: string; id?: string } = {}): Config {
  const place = { thread_id: thread, checkpoint_ns: ns }
  return { configurable: id === undefined ? place : { ...place, checkpoint_id: id } }
}

export function idIn({ configurable }: Config): string {
  return String(configurable?.['checkpoint_id'])
}

/** All channels are at version 1 unless said otherwise. */
export function toCheckpoint(
  values: Record<string, unknown>,
  facts: Partial<Checkpoint> = {},
): Checkpoint {
  return {
    v: 4,
    id: uuid6(-1),
    ts: '2026-01-01T00:00:00.000Z',
    channel_values: values,
    channel_versions: Object.fromEntries(Object.keys(values).map((channel) => [channel, 1])),
    versions_seen: {},
    ...facts,
  }
}

export function decodeMetadata(facts: Record<string, unknown> = {}): CheckpointMetadata {
  return { source: 'loop', step: 0, parents: {}, ...facts }
}

export type Put = {
  readonly values?: Record<string, unknown>
  readonly metadata?: Record<string, unknown>
  readonly checkpoint?: Partial<Checkpoint>
}

/** Puts a checkpoint whose values are all new. */
export async function put(
  saver: BaseCheckpointSaver,
  config: Config,
  { values = {}, metadata = {}, checkpoint = {} }: Put = {},
): Promise<Config> {
  const made = toCheckpoint(values, checkpoint)
  return saver.put(config, made, decodeMetadata(metadata), { ...made.channel_versions })
}

/** One after the other, each the child of the one before; oldest first. */
export async function putChain(
  saver: BaseCheckpointSaver,
  start: Config,
  puts: readonly Put[],
): Promise<Config[]> {
  const made: Config[] = []
  for (const next of puts) made.push(await put(saver, made.at(-1) ?? start, next))
  return made
}

/** Checkpoints whose step is their number and a value. */
export function steps(count: number): Put[] {
  return Array.from({ length: count }, (_, step) => ({ values: { step }, metadata: { step } }))
}

export async function listOf(
  saver: BaseCheckpointSaver,
  config: Config,
  options: CheckpointListOptions = {},
): Promise<CheckpointTuple[]> {
  const tuples: CheckpointTuple[] = []
  for await (const tuple of saver.list(config, options)) tuples.push(tuple)
  return tuples
}

export async function listIds(
  saver: BaseCheckpointSaver,
  config: Config,
  options: CheckpointListOptions = {},
): Promise<string[]> {
  return (await listOf(saver, config, options)).map((tuple) => idIn(tuple.config))
}

export async function valuesAt(
  saver: BaseCheckpointSaver,
  config: Config,
): Promise<Record<string, unknown> | undefined> {
  return (await saver.getTuple(config))?.checkpoint.channel_values
}
