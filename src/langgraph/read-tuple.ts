// Reads what LangGraph asks for, value by value through its serializer.
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
import { configOf } from './config.js'
import { parseFacts, parseMetadata, withSends } from './checkpoint-json.js'
import { load } from './serial.js'

export type Reader = {
  readonly serde: SerializerProtocol
  readonly channels: Channels
  /** The version of a channel that has none. */
  readonly firstVersion: number
  /** Whether what is read will probably be put again. */
  readonly isForUse: boolean
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
    config: configOf(found),
    checkpoint: found.sends === null ? checkpoint : withSends(checkpoint, { sends, firstVersion }),
    metadata,
    ...(parent === null ? {} : { parentConfig: configOf({ ...found, id: parent }) }),
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
  const { serde, channels, isForUse } = reader
  return { writes, seed: await channels.load(serde, { stored: history.seed, isForUse }) }
}

async function readValues(
  { serde, channels, isForUse }: Reader,
  values: ChannelValues,
): Promise<Record<string, unknown>> {
  const loading = [...values].map(async ([channel, stored]) => {
    return [channel, await channels.load(serde, { stored, isForUse })] as const
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
