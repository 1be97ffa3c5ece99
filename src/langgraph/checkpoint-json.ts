// Converts LangGraph's checkpoints to the parts that a put stores, and back. Pure.
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  maxChannelVersion,
  TASKS,
} from '@langchain/langgraph-checkpoint'
import type { ChannelValues } from '../index.js'

type Facts = Omit<Checkpoint, 'channel_values'>

export type PutContext = {
  readonly parent: string | null
  readonly metadata: CheckpointMetadata
  readonly newVersions: ChannelVersions | undefined
}

/**
 * Keeps every value of the checkpoint, whatever its version (docs/decisions/0013-langgraph.md). Only a checkpoint without a parent
 * that is not a fork leaves out the values that have a version and are not new.
 */
export function selectValues(
  { channel_values: values, channel_versions: versions }: Checkpoint,
  { parent, metadata, newVersions }: PutContext,
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

export function formatFacts(checkpoint: Checkpoint): string {
  return JSON.stringify({ ...checkpoint, channel_values: undefined })
}

export function parseFacts(text: string): Facts {
  return JSON.parse(text) as Facts
}

export function parseMetadata(value: unknown): CheckpointMetadata {
  return Object(value) as CheckpointMetadata
}

/** `firstVersion` is for a checkpoint without versions. */
export function withSends(
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
