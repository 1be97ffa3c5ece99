// Builds LangGraph's tuples and histories, decoding each value with its serializer.
import type {
  CheckpointMetadata,
  CheckpointPendingWrite,
  CheckpointTuple,
  DeltaChannelHistory,
  SerializerProtocol,
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
import { parseFacts, parseMetadata, withSends } from './checkpoint-json.js'
import { load } from './serial.js'

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
  const checkpoint = { ...parseFacts(found.facts), channel_values: values }
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
  return parseMetadata(await load(serde, metadata))
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
