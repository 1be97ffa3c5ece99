// Which events make a checkpoint, and what it says. Pure: from an event and what is remembered to what is to be
// saved and what is to be remembered. What a checkpoint holds is named by what was done since the one before, so
// that a list reads like the conversation: what was asked, what ran, what that changed.
import { callsReason, HIDDEN_PROMPT, promptReason } from '../../base/index.js'
import { callKey, labelOf, shortPrompt } from './describe.js'
import type { AgentEvent, EventType, Tool } from '../mappers/event.js'
import { allOf, type Call, newest, type TurnState } from './turn-state.js'

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
  readonly state: TurnState
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

export function decide(event: AgentEvent, state: TurnState, options: PolicyOptions): Decision {
  const { saves, after, isNewTurn = false } = decisionOn(event, state, options)
  return { saves: saves.filter((save) => save !== undefined), state: after, isNewTurn }
}

type Draft = {
  readonly saves: readonly (Save | undefined)[]
  readonly after: TurnState
  readonly isNewTurn?: boolean
}

function decisionOn(event: AgentEvent, state: TurnState, options: PolicyOptions): Draft {
  switch (event.type) {
    case 'session-start': {
      const saves = [pendingSave(event, state, options)]
      // Compaction starts a session over without ending what runs in it.
      if (event.source === 'compact') return { saves, after: state }
      return { saves, after: { turn: undefined, running: [], ended: allOf(state) } }
    }
    case 'turn-start':
      return turnStart(event, state, options)
    case 'before-tool':
      return beforeTool(event, state, options)
    case 'after-tool':
      return afterTool(event, state, options)
    case 'subagent-start':
      return { saves: [saveOfMissedEnds(event, state, options)], after: state }
    case 'subagent-end':
    case 'compaction':
    case 'quiet':
      return { saves: [pendingSave(event, state, options)], after: state }
    case 'turn-end':
      return {
        saves: [saveOf(event, state, { fallback: 'End of the turn', options })],
        after: state,
      }
    case 'session-end': {
      const after = { ...state, turn: undefined }
      if (state.turn === undefined) return { saves: [pendingSave(event, state, options)], after }
      return {
        saves: [saveOf(event, state, { fallback: 'End of the session', options })],
        after,
      }
    }
  }
}

function turnStart(
  event: Extract<AgentEvent, { type: 'turn-start' }>,
  state: TurnState,
  options: PolicyOptions,
): Draft {
  const prompt = shortPrompt(event.prompt)
  const remembered = options.isDiscreet ? '' : prompt
  const turn = { id: event.turnId, prompt: remembered }
  const after = { turn, running: [], ended: allOf(state) }
  // First a row for calls without an end event; the changes in the prompt's own row are then the user's.
  const left = pendingSave(event, state, options)
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
  state: TurnState,
  options: PolicyOptions,
): Draft {
  if (event.tool.effect === 'reads')
    return { saves: [saveOfMissedEnds(event, state, options)], after: state }
  const call = callOf(event, options)
  const save = saveOf(event, state, { fallback: `Before ${call.label}`, options })
  // Where calls come one after another, the one before must have ended, whether that was reported or not.
  const over = options.runsToolsTogether
    ? []
    : state.running.filter(({ agentId }) => agentId === event.agentId)
  const running = newest([...state.running.filter((one) => !over.includes(one)), call])
  return {
    saves: [save],
    after: { ...state, running, ended: newest([...state.ended, ...over]) },
  }
}

function afterTool(
  event: Extract<AgentEvent, { type: 'after-tool' }>,
  state: TurnState,
  options: PolicyOptions,
): Draft {
  if (event.tool.effect === 'reads') return { saves: [], after: state }
  const call = callOf(event, options)
  const at = state.running.findIndex(({ key }) => key === call.key)
  const after = {
    ...state,
    running: state.running.filter((_, index) => index !== at),
    ended: newest([...state.ended, call]),
  }
  return { saves: [saveOf(event, after, { fallback: call.label, options })], after }
}

/** Undefined if nothing was done since the last checkpoint that it could be named by. */
function pendingSave(
  event: AgentEvent,
  state: TurnState,
  options: PolicyOptions,
): Save | undefined {
  const { ended, unfinished } = callsAt(event, state, options)
  const isPending = ended.length + unfinished.length > 0
  return isPending ? saveOf(event, state, { fallback: '', options }) : undefined
}

/** The same, but only for calls that must have ended by now without an end event. */
function saveOfMissedEnds(
  event: AgentEvent,
  state: TurnState,
  options: PolicyOptions,
): Save | undefined {
  if (options.runsToolsTogether) return undefined
  const { unfinished } = callsAt(event, state, options)
  return unfinished.length > 0 ? saveOf(event, state, { fallback: '', options }) : undefined
}

/** The calls that may have changed what the folder holds now, since the last checkpoint. */
function callsAt(event: AgentEvent, state: TurnState, { runsToolsTogether }: PolicyOptions) {
  const isForAll = event.type === 'quiet' || BETWEEN_TURNS.includes(event.type)
  const unfinished = state.running.filter(({ isPending, agentId }) => {
    if (!isPending || isForAll || agentId === event.agentId) return isPending
    // The call that a subagent runs in is not over before the subagent is.
    return runsToolsTogether && agentId !== undefined
  })
  return { ended: state.ended, unfinished }
}

const BETWEEN_TURNS: readonly string[] = ['session-start', 'turn-start', 'turn-end', 'session-end']

/** Named by the calls since the last checkpoint, or by `fallback` if there were none. */
function saveOf(
  event: AgentEvent,
  state: TurnState,
  { fallback, options }: { readonly fallback: string; readonly options: PolicyOptions },
): Save {
  const { ended, unfinished } = callsAt(event, state, options)
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
      ...metadataOf(event, state),
      ...(calls.length === 0 ? {} : { calls: calls.map(({ label }) => label) }),
      ...(isTogether ? { together: true } : {}),
    },
    toolCallId: 'tool' in event ? event.tool.callId : undefined,
    always: false,
    holds: calls.map(({ key }) => key),
    moment: momentOf(event, options),
  }
}

/** Calls that hand work to a subagent are none of these: the subagent's own calls are reported. */
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
      // Where calls come one after another, the one before must have ended, whether that was reported or not.
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

function metadataOf(event: AgentEvent, { turn }: TurnState): SaveMetadata {
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
    isPending: tool.effect === 'anything' || tool.effect === 'delegates',
    agentId,
  }
}
