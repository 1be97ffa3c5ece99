// A checkpoint of an agent's session: the files, and as its state the agent's conversation up to there, copied from
// the agent's own file. How far it is copied stands in the checkpoint's metadata, so it is written in the same
// transaction as the lines themselves: a killed process has copied both or neither.
import { fieldsOf } from '../../base/index.js'
import { SavestateError, type SessionSaveOptions, type Session, type Store } from '../../index.js'
import type { AgentEvent } from '../mappers/event.js'
import type { Save } from '../hooks/policy.js'
import { type Growth, parsePosition, type Position, readGrowth } from './transcript.js'

/** The state of an agent's session. */
export type TranscriptState = {
  /** The lines of the agent's file. */
  readonly transcript: readonly string[]
}

type Work = {
  readonly session: Session<TranscriptState>
  readonly event: AgentEvent
  readonly save: Save
}

/** Of hooks that run at once the second finds that the first has gone on; so many are not at work. */
const MAX_ATTEMPTS = 4

export async function saveConversation(store: Store, work: Work): Promise<void> {
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
    const head = await work.session.head()
    const known = parsePosition(fieldsOf(head?.metadata)['copied'])
    const growth = await growthAt(store, work.event, known)
    try {
      await saveOnce(work, { growth, known, ifHead: head?.id ?? null })
      return
    } catch (error) {
      if (!(error instanceof SavestateError) || error.code !== 'HEAD_MOVED') throw error
    }
  }
  // The files are what matters now. Without a position the next event copies the whole conversation again.
  await saveOnce(work, { growth: undefined, known: undefined, ifHead: undefined })
}

/** A conversation that cannot be read is no reason to save no files. */
async function growthAt(
  store: Store,
  { agent, agentId, cwd, transcriptPath: path }: AgentEvent,
  known: Position | undefined,
): Promise<Growth | undefined> {
  // A subagent may have a file of its own, and this file follows the conversation with the user.
  if (path === undefined || (agentId !== undefined && path !== known?.path)) return undefined
  try {
    return readGrowth(path, known)
  } catch (error) {
    await store.recordFailure({ operation: `transcript ${agent}`, project: cwd ?? null, error })
    return undefined
  }
}

type Found = {
  readonly growth: Growth | undefined
  readonly known: Position | undefined
  readonly ifHead: string | null | undefined
}

async function saveOnce({ session, event, save }: Work, found: Found): Promise<void> {
  const { reason, metadata, toolCallId, always, moment } = save
  const { growth, known, ifHead } = found
  const copied = growth?.position ?? known
  const facts = {
    reason,
    metadata: copied === undefined ? metadata : { ...metadata, copied },
    files: true,
    ifChanged: !always,
    moment,
    ...uncapturedAt(event, save),
    ...(toolCallId === undefined ? {} : { toolCall: toolCallId }),
    ...(ifHead === undefined ? {} : { ifHead }),
  }
  const lines = growth?.lines ?? []
  if (growth?.isAnew === true) await session.save({ ...facts, state: { transcript: lines } })
  else if (lines.length > 0) await session.append('transcript', lines, facts)
  else await session.save(facts)
}

/** While a call still runs, nothing is compared: a log that it writes would make a row at every pause. */
function uncapturedAt(
  { type }: AgentEvent,
  { holds }: Save,
): Pick<SessionSaveOptions<TranscriptState>, 'uncaptured'> {
  if (type === 'quiet') return {}
  if (holds.length > 0) return { uncaptured: 'after-calls' }
  return { uncaptured: type === 'before-tool' ? 'between-calls' : 'forget' }
}
