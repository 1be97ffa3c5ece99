// Saves a checkpoint of an agent's session: the files, and as its state the conversation so far, copied from the agent's
// transcript. The position up to which it is copied is in the checkpoint's metadata, so one transaction writes both the
// lines and the position.
import { basename } from 'node:path'
import { fieldsOf } from '../../base/index.js'
import { SavestateError, type SessionSaveOptions, type Session, type Store } from '../../index.js'
import type { AgentEvent } from '../mappers/event.js'
import type { Save } from '../hooks/policy.js'
import { addUsage, parseUsage, type Usage } from './usage.js'
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

/** Concurrent hooks of one session move each other's head. More than this many do not run at once. */
const MAX_ATTEMPTS = 4

export async function saveConversation(store: Store, work: Work): Promise<void> {
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt += 1) {
    const head = await work.session.head()
    const { copied, usage: counted } = fieldsOf(head?.metadata)
    const known = parsePosition(copied)
    const growth = await growthAt(store, work.event, known)
    try {
      const usage = usageAt(work.event, growth, parseUsage(counted))
      await saveOnce(work, { growth, known, usage, ifHead: head?.id ?? null })
      return
    } catch (error) {
      if (!(error instanceof SavestateError) || error.code !== 'HEAD_MOVED') throw error
    }
  }
  // Save at least the files. Without a position the next event copies the whole conversation again.
  await saveOnce(work, {
    growth: undefined,
    known: undefined,
    usage: undefined,
    ifHead: undefined,
  })
}

/** A transcript that cannot be read must not keep the files from being saved. */
async function growthAt(
  store: Store,
  { agent, agentId, sessionId, cwd, transcriptPath: path }: AgentEvent,
  known: Position | undefined,
): Promise<Growth | undefined> {
  if (path === undefined) return undefined
  // A subagent may have its own transcript; the state follows the conversation with the user, whose file is named after the session.
  const isOwn = path === known?.path || basename(path) === `${sessionId}.jsonl`
  if (agentId !== undefined && !isOwn) return undefined
  try {
    return readGrowth(path, known)
  } catch (error) {
    await store.recordFailure({ operation: `transcript ${agent}`, project: cwd ?? null, error })
    return undefined
  }
}

/** The tokens up to the last line that is copied. A replaced file is counted from its start, like its lines. */
function usageAt(
  { agent }: AgentEvent,
  growth: Growth | undefined,
  known: Usage | undefined,
): Usage | undefined {
  if (growth === undefined) return known
  return addUsage(agent, growth.lines, growth.isFromStart ? undefined : known)
}

type Found = {
  readonly growth: Growth | undefined
  readonly known: Position | undefined
  readonly usage: Usage | undefined
  readonly ifHead: string | null | undefined
}

async function saveOnce({ session, event, save }: Work, found: Found): Promise<void> {
  const { reason, metadata, toolCallId, always, moment } = save
  const { growth, known, usage, ifHead } = found
  const copied = growth?.position ?? known
  const input = {
    reason,
    metadata: {
      ...metadata,
      ...(copied === undefined ? {} : { copied }),
      ...(usage === undefined ? {} : { usage }),
    },
    files: true,
    ifChanged: !always,
    moment,
    ...uncapturedAt(event, save),
    ...(toolCallId === undefined ? {} : { toolCall: toolCallId }),
    ...(ifHead === undefined ? {} : { ifHead }),
  }
  const lines = growth?.lines ?? []
  if (growth?.isFromStart === true) await session.save({ ...input, state: { transcript: lines } })
  else if (lines.length > 0) await session.append('transcript', lines, input)
  else await session.save(input)
}

/** While a call still runs, uncaptured files are not compared: a log that it writes would make a row at every pause. */
function uncapturedAt(
  { type }: AgentEvent,
  { covers }: Save,
): Pick<SessionSaveOptions<TranscriptState>, 'uncaptured'> {
  if (type === 'quiet') return {}
  if (covers.length > 0) return { uncaptured: 'after-calls' }
  return { uncaptured: type === 'before-tool' ? 'between-calls' : 'forget' }
}
