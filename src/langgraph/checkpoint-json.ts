// What a put keeps of a checkpoint, and what is told of it again. Pure.
import {
  type ChannelVersions,
  type Checkpoint,
  type CheckpointMetadata,
  maxChannelVersion,
  TASKS,
} from '@langchain/langgraph-checkpoint'
import type { ChannelValues } from '../index.js'

type Facts = Omit<Checkpoint, 'channel_values'>

export type PutFacts = {
  readonly parent: string | null
  readonly metadata: CheckpointMetadata
  readonly newVersions: ChannelVersions | undefined
}

/**
 * Every value that was handed over, whatever its version says (docs/decisions/0013-langgraph.md). Only a checkpoint
 * that continues nothing and copies nothing leaves out what has a version and is not new.
 */
export function keptValues(
  { channel_values: values, channel_versions: versions }: Checkpoint,
  { parent, metadata, newVersions }: PutFacts,
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

/** The channels that LangGraph counts as delta channels and that have no value here. */
export function deltasOf(
  { counters_since_delta_snapshot: counters }: CheckpointMetadata,
  kept: ChannelValues,
): readonly string[] {
  return Object.keys(counters ?? {}).filter((channel) => !kept.has(channel))
}

/** Before version 4, what the parent's tasks sent was no channel: it is read from their writes. */
export function sendsOf({ v }: Checkpoint, parent: string | null): string | null {
  return v < 4 && parent !== null ? TASKS : null
}

export function factsText(checkpoint: Checkpoint): string {
  return JSON.stringify({ ...checkpoint, channel_values: undefined })
}

export function parseFacts(text: string): Facts {
  return JSON.parse(text) as Facts
}

export function parseMetadata(value: unknown): CheckpointMetadata {
  return Object(value) as CheckpointMetadata
}

/** `firstVersion` is for a checkpoint that has no versions yet. */
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
