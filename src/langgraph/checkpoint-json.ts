// Converts LangGraph's checkpoints to the parts that a put stores, and builds its tuples and histories from stored parts.
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  type CheckpointPendingWrite,
  type CheckpointTuple,
  type DeltaChannelHistory,
  maxChannelVersion,
  type SerializerProtocol,
  TASKS,
} from '@langchain/langgraph-checkpoint'
import type {
  ChannelHistory,
  ChannelValues,
  GraphCheckpoint,
  GraphContents,
  GraphWrite,
} from '../index.js'
import type { Channels } from './channels.js'
import { toConfig } from './config.js'
import { load } from './serial.js'

/**
 * Keeps every value of the checkpoint, whatever its version (docs/decisions/0013-langgraph.md). Only a checkpoint without a parent
 * that is not a fork leaves out the values that have a version and are not new.
 */
export function selectValues(
  { channel_values: values, channel_versions: versions }: Checkpoint,
  {
    parent,
    metadata,
    newVersions,
  }: {
    readonly parent: string | null
    readonly metadata: CheckpointMetadata
    readonly newVersions: ChannelVersions | undefined
  },
): ChannelValues {
  const all = Object.entries(values)
  if (parent !== null || metadata.source === 'fork' || newVersions === undefined)
    return new Map(all)
  return new Map(
    all.filter(
      ([channel]) => !Object.hasOwn(versions, channel) || Object.hasOwn(newVersions, channel),
    ),
  )
}

/** The delta channels that have no value in this checkpoint. */
export function listDeltaChannels(
  { counters_since_delta_snapshot: counters }: CheckpointMetadata,
  kept: ChannelValues,
): readonly string[] {
  return Object.keys(counters ?? {}).filter((channel) => !kept.has(channel))
}

/** Before version 4, the sends of the parent's tasks were not a channel: they are read from the writes to the parent. */
export function sendsChannel({ v }: Checkpoint, parent: string | null): string | null {
  return v < 4 && parent !== null ? TASKS : null
}

export type Reader = {
  readonly serde: SerializerProtocol
  readonly channels: Channels
  /** The version of a channel that has none. */
  readonly firstVersion: number
  /** Whether the values will probably be put again. */
  readonly willBePut: boolean
}

export async function readTuple(
  reader: Reader,
  { found, contents }: { readonly found: GraphCheckpoint; readonly contents: GraphContents },
): Promise<CheckpointTuple> {
  const [values, pendingWrites, sent, metadata] = await Promise.all([
    readValues(reader, contents.values),
    readWrites(reader, contents.writes),
    readWrites(reader, contents.sends),
    readMetadata(reader, found),
  ])
  const facts = JSON.parse(found.facts) as Omit<Checkpoint, 'channel_values'>
  const checkpoint = { ...facts, channel_values: values }
  const sends = sent.map(([, , value]) => value)
  const { firstVersion } = reader
  const { parent } = found
  return {
    config: toConfig(found),
    checkpoint: found.sends === null ? checkpoint : withSends(checkpoint, { sends, firstVersion }),
    metadata,
    ...(parent === null ? {} : { parentConfig: toConfig({ ...found, id: parent }) }),
    pendingWrites,
  }
}

export async function readMetadata(
  { serde }: Pick<Reader, 'serde'>,
  { metadata }: GraphCheckpoint,
): Promise<CheckpointMetadata> {
  return Object(await load(serde, metadata)) as CheckpointMetadata
}

export async function readHistory(
  reader: Reader,
  history: ChannelHistory,
): Promise<DeltaChannelHistory> {
  const writes = await readWrites(reader, history.writes)
  if (!('seed' in history)) return { writes }
  const { serde, channels, willBePut } = reader
  return { writes, seed: await channels.load(serde, { stored: history.seed, willBePut }) }
}

async function readValues(
  { serde, channels, willBePut }: Reader,
  values: ChannelValues,
): Promise<Record<string, unknown>> {
  const loading = [...values].map(async ([channel, stored]) => {
    return [channel, await channels.load(serde, { stored, willBePut })] as const
  })
  return Object.fromEntries(await Promise.all(loading))
}

function readWrites(
  { serde }: Reader,
  writes: readonly GraphWrite[],
): Promise<CheckpointPendingWrite[]> {
  return Promise.all(
    writes.map(async ({ task, channel, value }): Promise<CheckpointPendingWrite> => {
      return [task, channel, await load(serde, value)]
    }),
  )
}

/** `firstVersion` is for a checkpoint without versions. */
function withSends(
  checkpoint: Checkpoint,
  { sends, firstVersion }: { readonly sends: readonly unknown[]; readonly firstVersion: number },
): Checkpoint {
  const versions = Object.values(checkpoint.channel_versions)
  const version = versions.length === 0 ? firstVersion : maxChannelVersion(...versions)
  return {
    ...checkpoint,
    channel_values: { ...checkpoint.channel_values, [TASKS]: [...sends] },
    channel_versions: { ...checkpoint.channel_versions, [TASKS]: version },
  }
}
