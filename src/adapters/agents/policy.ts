// Which events make a checkpoint, and what it says. Pure: from an event and what is remembered to what is to be
// saved and what is to be remembered. What a checkpoint holds is named by what was done since the one before, so
// that a list reads like the conversation: what was asked, what ran, what that changed.
import { callsReason, HIDDEN_PROMPT, promptReason } from '../../base/index.js'
import { callKey, labelOf, shortPrompt } from './describe.js'
import type { AgentEvent, EventType, Tool } from './event.js'
import { type Call, MAX_CALLS, type Memory } from './memory.js'

export type SaveMetadata = {
  readonly agent: string
  readonly event: string
  /** The same in our words. */
  readonly at: EventType
  readonly agentSession: string
  readonly turnId?: string
  readonly prompt?: string
  readonly tool?: string
  readonly toolCallId?: string
  readonly agentId?: string
  readonly transcript?: string
  /** The calls since the checkpoint before; several that ran at once share their changes. */
  readonly calls?: readonly string[]
  readonly together?: true
}

export type Save = {
  readonly reason: string
  readonly metadata: SaveMetadata
  readonly toolCallId: string | undefined
  /** Made also when nothing has changed: a prompt has its place in the list. */
  readonly always: boolean
  /** The ended calls that it holds; to be forgotten once it is made. */
  readonly holds: readonly string[]
  /** What begins and ends here, for who changed what. */
  readonly moment: WorkMoment
}

export type Decision = {
  readonly saves: readonly Save[]
  readonly memory: Memory
  readonly isNewTurn: boolean
}

export type PolicyOptions = {
  readonly runsToolsTogether: boolean
  /** The words of prompts and commands go into sealed metadata only. */
  readonly isDiscreet: boolean
}

export type WorkMoment = {
  readonly type: 'event'
  readonly who: string
  readonly session: string
  readonly agentId?: string
  readonly begins?: string
  readonly ends?: string
  readonly over?: 'session' | 'agent'
}

export function decide(event: AgentEvent, memory: Memory, options: PolicyOptions): Decision {
  const { saves, after, isNewTurn = false } = decisionOn(event, memory, options)
  return { saves: saves.filter((save) => save !== undefined), memory: after, isNewTurn }
}

/** After a save: what it holds is nobody's debt any more. */
export function settled(memory: Memory, { holds }: Save): Memory {
  return { ...memory, ended: memory.ended.filter(({ key }) => !holds.includes(key)) }
}

/** After saves that failed: the calls that they would have held are still to be named by the next one. */
export function unsettled(memory: Memory, { saves, memory: { ended } }: Decision): Memory {
  const held = ended.filter(({ key }) => saves.some(({ holds }) => holds.includes(key)))
  return { ...memory, ended: newest([...held, ...memory.ended]) }
}

type Draft = {
  readonly saves: readonly (Save | undefined)[]
  readonly after: Memory
  readonly isNewTurn?: boolean
}

function decisionOn(event: AgentEvent, memory: Memory, options: PolicyOptions): Draft {
  switch (event.type) {
    case 'session-start': {
      const saves = [owedSave(event, memory, options)]
      // Compaction starts a session over without ending what runs in it.
      if (event.source === 'compact') return { saves, after: memory }
      return { saves, after: { turn: undefined, running: [], ended: allOf(memory) } }
    }
    case 'turn-start':
      return turnStart(event, memory, options)
    case 'before-tool':
      return beforeTool(event, memory, options)
    case 'after-tool':
      return afterTool(event, memory, options)
    case 'subagent-start':
      return { saves: [overdueSave(event, memory, options)], after: memory }
    case 'subagent-end':
    case 'compaction':
    case 'quiet':
      return { saves: [owedSave(event, memory, options)], after: memory }
    case 'turn-end':
      return {
        saves: [saveOf(event, memory, { fallback: 'End of the turn', options })],
        after: memory,
      }
    case 'session-end': {
      const after = { ...memory, turn: undefined }
      if (memory.turn === undefined) return { saves: [owedSave(event, memory, options)], after }
      return { saves: [saveOf(event, memory, { fallback: 'End of the session', options })], after }
    }
  }
}

function turnStart(
  event: Extract<AgentEvent, { type: 'turn-start' }>,
  memory: Memory,
  options: PolicyOptions,
): Draft {
  const prompt = shortPrompt(event.prompt)
  const remembered = options.isDiscreet ? '' : prompt
  const turn = { id: event.turnId, prompt: remembered }
  const after = { turn, running: [], ended: allOf(memory) }
  // First what no end was seen of, under its own name; what the prompt's row adds is then the person's.
  const left = owedSave(event, memory, options)
  const asked: Save = {
    reason: promptReason(options.isDiscreet || prompt === '' ? HIDDEN_PROMPT : prompt),
    metadata: metadataOf(event, { ...after, turn: { ...turn, prompt } }),
    toolCallId: undefined,
    always: true,
    holds: [],
    moment: momentOf(event, options),
  }
  return { saves: [left, asked], after, isNewTurn: true }
}

function beforeTool(
  event: Extract<AgentEvent, { type: 'before-tool' }>,
  memory: Memory,
  options: PolicyOptions,
): Draft {
  if (event.tool.effect === 'reads')
    return { saves: [overdueSave(event, memory, options)], after: memory }
  const call = callOf(event, options)
  const save = saveOf(event, memory, { fallback: `Before ${call.label}`, options })
  // Where calls come one after another, the one before must have ended, whether that was told or not.
  const over = options.runsToolsTogether
    ? []
    : memory.running.filter(({ agentId }) => agentId === event.agentId)
  const running = newest([...memory.running.filter((one) => !over.includes(one)), call])
  return { saves: [save], after: { ...memory, running, ended: newest([...memory.ended, ...over]) } }
}

function afterTool(
  event: Extract<AgentEvent, { type: 'after-tool' }>,
  memory: Memory,
  options: PolicyOptions,
): Draft {
  if (event.tool.effect === 'reads') return { saves: [], after: memory }
  const call = callOf(event, options)
  const at = memory.running.findIndex(({ key }) => key === call.key)
  const after = {
    ...memory,
    running: memory.running.filter((_, index) => index !== at),
    ended: newest([...memory.ended, call]),
  }
  return { saves: [saveOf(event, after, { fallback: call.label, options })], after }
}

/** Undefined if nothing was done since the last checkpoint that it could be named by. */
function owedSave(event: AgentEvent, memory: Memory, options: PolicyOptions): Save | undefined {
  const { ended, unfinished } = callsAt(event, memory, options)
  const isOwed = ended.length + unfinished.length > 0
  return isOwed ? saveOf(event, memory, { fallback: '', options }) : undefined
}

/** The same, but only if something must have ended by now whose end was not told. */
function overdueSave(event: AgentEvent, memory: Memory, options: PolicyOptions): Save | undefined {
  if (options.runsToolsTogether) return undefined
  const { unfinished } = callsAt(event, memory, options)
  return unfinished.length > 0 ? saveOf(event, memory, { fallback: '', options }) : undefined
}

/** The calls that may have changed what the folder holds now, since the last checkpoint. */
function callsAt(event: AgentEvent, memory: Memory, { runsToolsTogether }: PolicyOptions) {
  const isForAll = event.type === 'quiet' || BETWEEN_TURNS.includes(event.type)
  const unfinished = memory.running.filter(({ isOwed, agentId }) => {
    if (!isOwed || isForAll || agentId === event.agentId) return isOwed
    // The call that a subagent runs in is not over before the subagent is.
    return runsToolsTogether && agentId !== undefined
  })
  return { ended: memory.ended, unfinished }
}

const BETWEEN_TURNS: readonly string[] = ['session-start', 'turn-start', 'turn-end', 'session-end']

/** Named by the calls since the last checkpoint, or by `fallback` if there were none. */
function saveOf(
  event: AgentEvent,
  memory: Memory,
  { fallback, options }: { readonly fallback: string; readonly options: PolicyOptions },
): Save {
  const { ended, unfinished } = callsAt(event, memory, options)
  const calls = [...ended, ...unfinished]
  const mayRun =
    event.type === 'quiet' || (options.runsToolsTogether && !BETWEEN_TURNS.includes(event.type))
  const names = [
    ...ended.map(({ label }) => label),
    ...unfinished.map(({ label }) => `${label} (${mayRun ? 'running' : 'no end seen'})`),
  ]
  const isTogether = mayRun && unfinished.length > 0 && calls.length > 1
  return {
    reason: calls.length === 0 ? fallback : callsReason([...new Set(names)]),
    metadata: {
      ...metadataOf(event, memory),
      ...(calls.length === 0 ? {} : { calls: calls.map(({ label }) => label) }),
      ...(isTogether ? { together: true } : {}),
    },
    toolCallId: 'tool' in event ? event.tool.callId : undefined,
    always: false,
    holds: calls.map(({ key }) => key),
    moment: momentOf(event, options),
  }
}

/** Calls that hand work to a subagent are none of these: what the subagent does is told call by call. */
function momentOf(event: AgentEvent, { runsToolsTogether }: PolicyOptions): WorkMoment {
  const { agent: who, sessionId: session, agentId } = event
  const facts = {
    type: 'event',
    who,
    session,
    ...(agentId === undefined ? {} : { agentId }),
  } as const
  switch (event.type) {
    case 'before-tool': {
      // Where calls come one after another, the one before must have ended, whether that was told or not.
      const over = runsToolsTogether ? {} : ({ over: 'agent' } as const)
      return { ...facts, ...over, ...(isWork(event.tool) ? { begins: callKey(event.tool) } : {}) }
    }
    case 'after-tool':
      return isWork(event.tool) ? { ...facts, ends: callKey(event.tool) } : facts
    case 'subagent-end':
      return { ...facts, over: 'agent' }
    case 'session-start':
      return event.source === 'compact' ? facts : { ...facts, over: 'session' }
    case 'turn-start':
    case 'turn-end':
    case 'session-end':
      return { ...facts, over: 'session' }
    case 'subagent-start':
    case 'compaction':
    case 'quiet':
      return facts
  }
}

function isWork({ effect }: Tool): boolean {
  return effect === 'writes' || effect === 'anything'
}

function metadataOf(event: AgentEvent, { turn }: Memory): SaveMetadata {
  const turnId = event.turnId ?? turn?.id
  const tool = 'tool' in event ? event.tool : undefined
  return {
    agent: event.agent,
    event: event.eventName,
    at: event.type,
    agentSession: event.sessionId,
    ...(turnId === undefined ? {} : { turnId }),
    ...(turn === undefined || turn.prompt === '' ? {} : { prompt: turn.prompt }),
    ...(tool === undefined ? {} : { tool: labelOf(tool, event.cwd) }),
    ...(tool?.callId === undefined ? {} : { toolCallId: tool.callId }),
    ...(event.agentId === undefined ? {} : { agentId: event.agentId }),
    ...(event.transcriptPath === undefined ? {} : { transcript: event.transcriptPath }),
  }
}

function callOf(
  { tool, agentId, cwd }: Extract<AgentEvent, { type: 'before-tool' | 'after-tool' }>,
  { isDiscreet }: PolicyOptions,
): Call {
  const label = isDiscreet ? labelOf({ ...tool, input: undefined }, cwd) : labelOf(tool, cwd)
  return {
    key: callKey(tool),
    label,
    isOwed: tool.effect === 'anything' || tool.effect === 'delegates',
    agentId,
  }
}

/** Everything that was begun, as ended: whoever ran it is gone. */
function allOf({ ended, running }: Memory): readonly Call[] {
  return newest([...ended, ...running.filter(({ isOwed }) => isOwed)])
}

function newest(calls: readonly Call[]): readonly Call[] {
  return calls.slice(-MAX_CALLS)
}
