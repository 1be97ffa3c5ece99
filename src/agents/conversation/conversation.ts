// Lets an agent continue its conversation from a checkpoint. The agent's own file is never changed: the truncated
// conversation is a separate file.
import { AGENT_NAMES, type AgentName, fieldsOf } from '../../base/index.js'
import {
  type CheckpointDetails,
  explainSystemError,
  SavestateError,
  SealedValue,
  type Store,
} from '../../internal.js'
import { truncateConversation, type Cut } from './truncate-conversation.js'
import { EVENT_TYPES, type EventType } from '../mappers/event.js'
import { programOnPath } from '../install/config-paths.js'
import { forkOpencode } from './opencode-conversation.js'
import type { TranscriptState } from './save-conversation.js'
import { type Position, readGrowth } from './transcript.js'
import { CODEX_FILE, fileInStore, RESUMABLE } from './write-conversation.js'

export type Conversation = {
  readonly agent: AgentName
  /** `resume`: continue the truncated one. `new`: nothing precedes that point. `none`: not possible. */
  readonly way: 'resume' | 'new' | 'none'
  readonly kind: Cut['kind']
  readonly prompt: string | null
  readonly tool: string | null
  /** The command that continues it; null if not possible. */
  readonly command: readonly string[] | null
  /** The file with the truncated conversation. */
  readonly file: string | null
  /** The number of lines kept. */
  readonly lines: number
  /** Why it is not possible; null if it is. */
  readonly problem: string | null
}

/** A checkpoint made by a hook. */
export type AgentCheckpoint = {
  readonly id: string
  readonly session: string
  readonly agent: AgentName
  readonly agentSession: string
  readonly at: EventType
  readonly turnId: string | undefined
  readonly callId: string | undefined
  readonly prompt: string | undefined
  readonly tool: string | undefined
  /** The agent's transcript. */
  readonly path: string | undefined
  /** The previous checkpoint of the session. */
  readonly parent: string | null
}

/** Undefined for a checkpoint that no hook has made. Throws KEY_MISSING if encryption hides that. */
export function agentCheckpoint({
  id,
  session,
  sessionAgent,
  agent,
}: CheckpointDetails): AgentCheckpoint | undefined {
  if (agent?.metadata instanceof SealedValue && AGENT_NAMES.some((one) => one === sessionAgent))
    throw new SavestateError('KEY_MISSING', `The conversation of ${id} is encrypted`, {
      hint: 'Set SAVESTATE_KEY or SAVESTATE_KEY_FILE to its key. Nothing was changed.',
    })
  const fields = fieldsOf(agent?.metadata)
  const text = (key: string) => {
    const value = fields[key]
    return typeof value === 'string' ? value : undefined
  }
  const name = AGENT_NAMES.find((one) => one === text('agent'))
  const at = EVENT_TYPES.find((one) => one === text('at'))
  const agentSession = text('agentSession')
  if (session === null || name === undefined || at === undefined || agentSession === undefined)
    return undefined
  return {
    id,
    session,
    agent: name,
    agentSession,
    at,
    turnId: text('turnId'),
    callId: text('toolCallId'),
    prompt: text('prompt'),
    tool: text('tool'),
    path: text('transcript'),
    parent: agent?.parent ?? null,
  }
}

/**
 * The point just before the work that a checkpoint names, for a rewind with `before`: for the end of a call its start, for
 * other rows after some work the previous checkpoint.
 */
export async function pointBefore(
  store: Store,
  checkpoint: AgentCheckpoint,
  moment: CheckpointDetails['moment'],
): Promise<AgentCheckpoint> {
  if (moment !== 'after') return checkpoint
  if (checkpoint.at === 'after-tool' && checkpoint.callId !== undefined)
    return { ...checkpoint, at: 'before-tool' }
  const { parent } = checkpoint
  if (parent === null) return { ...checkpoint, at: 'turn-start' }
  const session = await store.session(checkpoint.session, { create: false, lease: false })
  try {
    return agentCheckpoint(await session.show(parent)) ?? { ...checkpoint, at: 'turn-start' }
  } finally {
    await session.close()
  }
}

/** A conversation up to a checkpoint that a hook has made. */
export type AgentConversationPlan = PlannedConversation & { readonly checkpoint: AgentCheckpoint }

/** Undefined for a checkpoint that no hook has made. Writes nothing yet. `folder`: where the agent would continue. */
export async function planAtCheckpoint(
  store: Store,
  details: CheckpointDetails,
  { before, folder }: { readonly before: boolean; readonly folder: string },
): Promise<AgentConversationPlan | undefined> {
  const checkpoint = agentCheckpoint(details)
  if (checkpoint === undefined) return undefined
  const point = before ? await pointBefore(store, checkpoint, details.moment) : checkpoint
  return { checkpoint, ...(await planConversation(store, point, folder)) }
}

/** Planned in memory only. `write` creates the file and returns the command. */
type PlannedConversation = {
  readonly outline: Conversation
  write(): Conversation
}

export async function planConversation(
  store: Store,
  checkpoint: AgentCheckpoint,
  folder: string,
): Promise<PlannedConversation> {
  const { agent, at, prompt = null, tool = null, path } = checkpoint
  const common = { agent, prompt, tool, problem: null }
  const problem = findConversationProblem(checkpoint)
  const { turnId } = checkpoint
  if (problem === undefined && agent === 'opencode' && turnId !== undefined)
    return planOpencode(store, { ...checkpoint, turnId }, folder)
  const unavailable = (why: string): PlannedConversation => {
    const kind = at === 'turn-start' ? 'before-turn' : 'then'
    const nothing = { way: 'none', command: null, file: null, lines: 0 } as const
    const none = { ...common, ...nothing, kind, problem: why } as const
    return { outline: none, write: () => none }
  }
  const way = RESUMABLE[agent]
  if (way === undefined || problem !== undefined) return unavailable(problem ?? `${agent} cannot`)
  const { kind, lines, isFound } = truncateConversation(
    way.format,
    checkpoint,
    await readCopies(store, checkpoint),
  )
  const counted = { ...common, kind, lines: lines.length, file: null }
  if (lines.length === 0) {
    // Nothing precedes the first prompt of a session.
    const isFirst = at === 'turn-start' && checkpoint.parent === null
    if (!isFound && !isFirst) return unavailable(NO_COPY)
    const begun = { ...counted, way: 'new', command: [agent] } as const
    return { outline: begun, write: () => begun }
  }
  return {
    outline: { ...counted, way: 'resume', command: null },
    write() {
      try {
        const written = way.write(lines, { home: store.home, checkpoint, path })
        return { ...counted, way: 'resume', ...written }
      } catch (error) {
        throw explainSystemError(error)
      }
    },
  }
}

const NO_COPY = 'no copy of it was saved, and the transcript of the agent does not contain it'

/** Why the agent cannot continue from there; undefined if it can. Checked before anything is changed. */
export function findConversationProblem({
  agent,
  at,
  turnId,
  path,
}: AgentCheckpoint): string | undefined {
  if (agent === 'opencode') {
    if (turnId === undefined || AT_AN_END.includes(at))
      return 'opencode can continue from a prompt only, not from the end of a turn'
    return programOnPath('opencode', process.env) === undefined
      ? 'opencode is not on your PATH'
      : undefined
  }
  if (RESUMABLE[agent] === undefined)
    return `${agent} has no command that continues from an earlier point`
  if (agent === 'codex' && !CODEX_FILE.test(path ?? ''))
    return 'the transcript is not in the folder where Codex keeps its sessions'
  return undefined
}

/** opencode has ids of prompts, but none of what ends a turn. */
const AT_AN_END: readonly EventType[] = ['session-start', 'turn-end', 'session-end']

function planOpencode(
  { home }: Store,
  checkpoint: AgentCheckpoint & { readonly turnId: string },
  folder: string,
): PlannedConversation {
  const { agentSession: session, turnId: message, prompt = null, tool = null } = checkpoint
  const kind = 'before-turn'
  const common = { agent: 'opencode', kind, prompt, tool, lines: 0, problem: null } as const
  return {
    outline: { ...common, way: 'resume', command: null, file: null },
    write() {
      const file = fileInStore({ home, checkpoint }, 'json')
      const id = forkOpencode({ session, message, folder, file })
      if (id === undefined) return { ...common, way: 'new', command: ['opencode'], file: null }
      return { ...common, way: 'resume', command: ['opencode', '--session', id], file }
    },
  }
}

/** The copy in the checkpoint, then newer ones. */
async function readCopies(
  store: Store,
  { id, session: name, path }: AgentCheckpoint,
): Promise<readonly (readonly string[])[]> {
  const session = await store.session<TranscriptState>(name, { create: false, lease: false })
  try {
    const states = [await session.stateAt(id), await session.stateAt()]
    const stored = states.map((state) => stringsIn(state?.transcript))
    return path === undefined ? stored : [...stored, readAllLines(path)]
  } finally {
    await session.close()
  }
}

/** Another program may have written the state, so it may contain anything. */
function stringsIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string') : []
}

function readAllLines(path: string): readonly string[] {
  const lines: string[] = []
  let known: Position | undefined
  for (;;) {
    const growth = readGrowth(path, known)
    if (growth === undefined || growth.lines.length === 0) return lines
    for (const line of growth.lines) lines.push(line)
    known = growth.position
  }
}
