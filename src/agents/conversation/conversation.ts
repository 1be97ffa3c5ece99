// The conversation of a checkpoint, so that the agent can go on from there. The agent's own file is never edited or
// cut: the shortened conversation is a file of its own, and the newer one stays where it is.
import { AGENT_NAMES, type AgentName, fieldsOf } from '../../base/index.js'
import { type CheckpointDetails, SavestateError, SealedValue, type Store } from '../../internal.js'
import { cutTalk, type Cut } from './truncate-conversation.js'
import { EVENT_TYPES, type EventType } from '../mappers/event.js'
import { programOnPath } from '../install/config-paths.js'
import { forkOpencode } from './opencode-conversation.js'
import type { TranscriptState } from './save-conversation.js'
import { type Position, readGrowth } from './transcript.js'
import { CODEX_FILE, fileInStore, WAYS } from './write-conversation.js'

export type Conversation = {
  readonly agent: AgentName
  /** `resume`: the shortened one goes on. `new`: nothing was said before. `none`: there is no way to it. */
  readonly way: 'resume' | 'new' | 'none'
  readonly kind: Cut['kind']
  readonly prompt: string | null
  readonly tool: string | null
  /** What continues it, word by word; null if there is no way. */
  readonly command: readonly string[] | null
  /** The file that was made for it. */
  readonly file: string | null
  /** How many lines of the agent's file are in it. */
  readonly lines: number
  /** Why there is no way; null if there is one. */
  readonly problem: string | null
}

/** A checkpoint that a hook has made. */
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
  /** The agent's file. */
  readonly path: string | undefined
  /** The checkpoint that it followed in the session. */
  readonly parent: string | null
}

/** Undefined for a checkpoint that no agent's hook has made. Throws KEY_MISSING where that cannot be seen. */
export function agentCheckpoint({
  id,
  session,
  sessionAgent,
  agent,
}: CheckpointDetails): AgentCheckpoint | undefined {
  if (agent?.metadata instanceof SealedValue && AGENT_NAMES.some((one) => one === sessionAgent))
    throw keyMissing(id)
  const fields = fieldsOf(agent?.metadata)
  const text = (key: string) => {
    const value = fields[key]
    return typeof value === 'string' ? value : undefined
  }
  const name = AGENT_NAMES.find((one) => one === text('agent'))
  const at = EVENT_TYPES.find((one) => one === text('at'))
  const agentSession = text('agentSession')
  if (session === null || name === undefined || agentSession === undefined) return undefined
  if (at === undefined) return undefined
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

function keyMissing(id: string): SavestateError {
  return new SavestateError('KEY_MISSING', `The conversation of ${id} is encrypted`, {
    hint: 'Set SAVESTATE_KEY or SAVESTATE_KEY_FILE to its key. Nothing was changed.',
  })
}

/**
 * The point just before the work that a checkpoint names, for a rewind with `before`. The end of a call has its beginning;
 * other rows after some work have the point of the checkpoint before them.
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

/** What there is to go on with, in memory. `write` makes the file, and says how to go on. */
export type PlannedConversation = {
  readonly outline: Conversation
  write(): Conversation
}

export async function planConversation(
  store: Store,
  checkpoint: AgentCheckpoint,
  folder: string,
): Promise<PlannedConversation> {
  const { agent, at, prompt = null, tool = null, path } = checkpoint
  const said = { agent, prompt, tool, problem: null }
  const problem = problemOf(checkpoint)
  const message = checkpoint.turnId
  if (problem === undefined && agent === 'opencode' && message !== undefined)
    return planOpencode(store, { checkpoint, message, folder })
  const noWay = (why: string): PlannedConversation => {
    const kind = at === 'turn-start' ? 'before-turn' : 'then'
    const nothing = { way: 'none', command: null, file: null, lines: 0 } as const
    const none = { ...said, ...nothing, kind, problem: why } as const
    return { outline: none, write: () => none }
  }
  const way = WAYS[agent]
  if (way === undefined || problem !== undefined) return noWay(problem ?? `${agent} cannot`)
  const { kind, lines, isFound } = cutTalk(way.form, checkpoint, await copiesOf(store, checkpoint))
  const counted = { ...said, kind, lines: lines.length, file: null }
  if (lines.length === 0) {
    // Before the first prompt of a session there is nothing to find.
    const isFirst = at === 'turn-start' && checkpoint.parent === null
    if (!isFound && !isFirst) return noWay(NO_COPY)
    const begun = { ...counted, way: 'new', command: [way.program] } as const
    return { outline: begun, write: () => begun }
  }
  return {
    outline: { ...counted, way: 'resume', command: null },
    write() {
      const place = { home: store.home, checkpoint, path }
      return { ...counted, ...way.write(lines, place) }
    },
  }
}

const NO_COPY = 'no copy of it was saved, and the file of the agent does not have it'

/** Why the agent cannot continue from there; undefined if it can. Known before anything is changed. */
function problemOf({ agent, at, turnId, path }: AgentCheckpoint): string | undefined {
  if (agent === 'opencode') {
    if (turnId === undefined || AT_AN_END.includes(at))
      return 'opencode can continue from a prompt only, not from the end of a turn'
    return programOnPath('opencode', process.env) === undefined
      ? 'opencode is not on your PATH'
      : undefined
  }
  if (WAYS[agent] === undefined)
    return `${agent} has no command that continues from an earlier point`
  if (agent === 'codex' && !CODEX_FILE.test(path ?? ''))
    return 'the file of this conversation is not where Codex keeps its conversations'
  return undefined
}

/** opencode tells which prompt a turn has begun with, and nothing of what has ended it. */
const AT_AN_END: readonly EventType[] = ['session-start', 'turn-end', 'session-end']

function planOpencode(
  { home }: Store,
  {
    checkpoint,
    message,
    folder,
  }: { readonly checkpoint: AgentCheckpoint; readonly message: string; readonly folder: string },
): PlannedConversation {
  const { agentSession: session, prompt = null, tool = null } = checkpoint
  const begin = { agent: 'opencode', kind: 'before-turn', prompt, tool } as const
  const said = { ...begin, lines: 0, problem: null } as const
  return {
    outline: { ...said, way: 'resume', command: null, file: null },
    write() {
      const file = fileInStore({ home, checkpoint }, 'json')
      const id = forkOpencode({ session, message, folder, file })
      if (id === undefined) return { ...said, way: 'new', command: ['opencode'], file: null }
      return { ...said, way: 'resume', command: ['opencode', '--session', id], file }
    },
  }
}

/** What the checkpoint holds, then what is newer. */
async function copiesOf(
  store: Store,
  { id, session: name, path }: AgentCheckpoint,
): Promise<readonly (readonly string[])[]> {
  const session = await store.session<TranscriptState>(name, { create: false, lease: false })
  try {
    const states = [await session.stateAt(id), await session.stateAt()]
    const stored = states.map((state) => linesIn(state?.transcript))
    return path === undefined ? stored : [...stored, linesOf(path)]
  } finally {
    await session.close()
  }
}

/** A state that another program wrote may hold anything there. */
function linesIn(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((line) => typeof line === 'string') : []
}

function linesOf(path: string): readonly string[] {
  const lines: string[] = []
  let known: Position | undefined
  for (;;) {
    const growth = readGrowth(path, known)
    if (growth === undefined || growth.lines.length === 0) return lines
    for (const line of growth.lines) lines.push(line)
    known = growth.position
  }
}
