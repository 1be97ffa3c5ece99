// Decides which events make a checkpoint, and its label. Pure: an event and the turn state in, saves and the next turn
// state out. A checkpoint is labeled by the calls since the one before it, so that the list reads like the conversation.
import {
  callsReason,
  HIDDEN_PROMPT,
  type OutsideCommand,
  outsideCommands,
  promptReason,
} from '../../base/index.js'
import type { WorkEvent } from '../../internal.js'
import { callKey, labelCall, shortenPrompt } from './describe.js'
import type { AgentEvent, EventType, Tool } from '../mappers/event.js'
import { type TestResult, testResultOf } from './test-commands.js'
import { endAll, type Call, newest, type TurnState, withoutOutside } from './turn-state.js'

type SaveMetadata = {
  readonly agent: string
  readonly event: string
  /** The type of the event. */
  readonly at: EventType
  readonly agentSession: string
  readonly turnId?: string
  readonly prompt?: string
  readonly tool?: string
  readonly toolCallId?: string
  readonly agentId?: string
  readonly transcript?: string
  /** The calls since the previous checkpoint. `together`: they ran concurrently, so they share its changes. */
  readonly calls?: readonly string[]
  readonly together?: true
  /** One of these calls failed. */
  readonly failed?: true
  /** The commands of these calls that probably changed something outside the folder. */
  readonly outside?: readonly OutsideCommand[]
  /** The exit status of the shell command that ended here. */
  readonly exitStatus?: number
  /** The result of the tests that these calls ran. */
  readonly tests?: TestResult
}

export type Save = {
  readonly reason: string
  readonly metadata: SaveMetadata
  readonly toolCallId: string | undefined
  /** Save even if nothing has changed: a prompt, a change outside the folder and a result of tests always get a row. */
  readonly always: boolean
  /** Keys of the calls whose changes it includes. They are dropped from the turn state once it is made. */
  readonly covers: readonly string[]
  /** The calls that begin and end here, to find out who changed which file. */
  readonly moment: WorkEvent
}

export type Decision = { readonly saves: readonly Save[]; readonly state: TurnState }

export type PolicyOptions = {
  readonly runsToolsTogether: boolean
  /** Prompts and commands appear in encrypted metadata only. */
  readonly hidesText: boolean
}

export function decide(event: AgentEvent, state: TurnState, options: PolicyOptions): Decision {
  switch (event.type) {
    case 'session-start': {
      const saves = pendingSave(event, state, options)
      // Compaction restarts a session without ending its running calls.
      if (event.source === 'compact') return { saves, state }
      return { saves, state: { turn: undefined, running: [], ended: endAll(state) } }
    }
    case 'turn-start':
      return turnStart(event, state, options)
    case 'before-tool':
      return beforeTool(event, state, options)
    case 'after-tool':
      return afterTool(event, state, options)
    case 'subagent-start':
      return { saves: missedEndSave(event, state, options), state }
    case 'subagent-end':
    case 'compaction':
    case 'quiet':
      return { saves: pendingSave(event, state, options), state }
    case 'turn-end':
      if (event.onlyCalls === true) return { saves: pendingSave(event, state, options), state }
      return { saves: [makeSave(event, state, { fallback: 'End of the turn', options })], state }
    case 'session-end': {
      const saves =
        state.turn === undefined
          ? pendingSave(event, state, options)
          : [makeSave(event, state, { fallback: 'End of the session', options })]
      const running = state.running.map(withoutOutside)
      return { saves, state: { ...state, running, turn: undefined } }
    }
  }
}

function turnStart(
  event: Extract<AgentEvent, { type: 'turn-start' }>,
  state: TurnState,
  options: PolicyOptions,
): Decision {
  const prompt = shortenPrompt(event.prompt)
  const remembered = options.hidesText ? '' : prompt
  const turn = { id: event.turnId, prompt: remembered }
  const after = { turn, running: [], ended: endAll(state) }
  // First save the calls without an end event, so that the changes in the prompt's own row are the user's.
  const left = pendingSave(event, state, options)
  const asked: Save = {
    reason: promptReason(options.hidesText || prompt === '' ? HIDDEN_PROMPT : prompt),
    metadata: buildMetadata(event, { ...after, turn: { ...turn, prompt } }),
    toolCallId: undefined,
    always: true,
    covers: [],
    moment: describeWork(event, options),
  }
  return { saves: [...left, asked], state: after }
}

function beforeTool(
  event: Extract<AgentEvent, { type: 'before-tool' }>,
  state: TurnState,
  options: PolicyOptions,
): Decision {
  if (event.tool.effect === 'reads') return { saves: missedEndSave(event, state, options), state }
  const call = toCall(event, options)
  const save = makeSave(event, state, { fallback: `Before ${call.label}`, options })
  // Where calls run one at a time, the previous one has ended, even if its end was not reported.
  const over = options.runsToolsTogether
    ? []
    : state.running.filter(({ agentId }) => agentId === event.agentId)
  const running = newest([...state.running.filter((one) => !over.includes(one)), call])
  return { saves: [save], state: { ...state, running, ended: newest([...state.ended, ...over]) } }
}

function afterTool(
  event: Extract<AgentEvent, { type: 'after-tool' }>,
  state: TurnState,
  options: PolicyOptions,
): Decision {
  if (event.tool.effect === 'reads') return { saves: [], state }
  const call = toCall(event, options)
  const at = state.running.findIndex(({ key }) => key === call.key)
  const after = {
    ...state,
    running: state.running.filter((_, index) => index !== at),
    ended: newest([...state.ended, call]),
  }
  return { saves: [makeSave(event, after, { fallback: call.label, options })], state: after }
}

/** None if there was no call since the last checkpoint. */
function pendingSave(event: AgentEvent, state: TurnState, options: PolicyOptions): readonly Save[] {
  const { ended, unfinished } = callsAt(event, state, options)
  const isPending = ended.length + unfinished.length > 0
  return isPending ? [makeSave(event, state, { fallback: '', options })] : []
}

/** Like `pendingSave`, but only for calls that must have ended by now without an end event. */
function missedEndSave(
  event: AgentEvent,
  state: TurnState,
  options: PolicyOptions,
): readonly Save[] {
  if (options.runsToolsTogether) return []
  const { unfinished } = callsAt(event, state, options)
  return unfinished.length > 0 ? [makeSave(event, state, { fallback: '', options })] : []
}

/** The calls that may have changed the folder since the last checkpoint. */
function callsAt(event: AgentEvent, state: TurnState, { runsToolsTogether }: PolicyOptions) {
  const isForAll = event.type === 'quiet' || BETWEEN_TURNS.includes(event.type)
  const unfinished = state.running.filter(({ isPending, agentId }) => {
    if (!isPending || isForAll || agentId === event.agentId) return isPending
    // The call that started a subagent runs until the subagent ends.
    return runsToolsTogether && agentId !== undefined
  })
  return { ended: state.ended, unfinished }
}

const BETWEEN_TURNS: readonly string[] = ['session-start', 'turn-start', 'turn-end', 'session-end']

/** Labeled by the calls since the last checkpoint, or by `fallback` if there were none. */
function makeSave(
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
  const results = calls.flatMap(({ tests }) => tests ?? [])
  const isTogether = mayRun && unfinished.length > 0 && calls.length > 1
  const outside = outsideAt(event, OVER.includes(event.type) ? calls : ended)
  return {
    reason: calls.length === 0 ? fallback : callsReason([...new Set(names)]),
    metadata: {
      ...buildMetadata(event, state),
      ...(calls.length === 0 ? {} : { calls: calls.map(({ label }) => label) }),
      ...(isTogether ? { together: true } : {}),
      ...(calls.some(({ failed }) => failed === true) ? { failed: true } : {}),
      ...(outside.length === 0 ? {} : { outside }),
      ...(results.length === 0
        ? {}
        : { tests: results.find((one) => one === 'failed') ?? 'passed' }),
    },
    toolCallId: 'tool' in event ? event.tool.callId : undefined,
    always: outside.length > 0 || results.length > 0,
    covers: calls.map(({ key }) => key),
    moment: describeWork(event, options),
  }
}

/** At these events a call without an end will never get one. */
const OVER: readonly string[] = ['session-start', 'turn-start', 'session-end']
const MAX_OUTSIDE = 16

/** In an encrypted store the turn state has no commands, but the event has those of its own call. */
function outsideAt(event: AgentEvent, calls: readonly Call[]): readonly OutsideCommand[] {
  const own = 'tool' in event ? event.tool : undefined
  const key = own && callKey(own)
  return calls
    .flatMap((call) =>
      own !== undefined && call.key === key ? outsideOf(own) : (call.outside ?? []),
    )
    .slice(0, MAX_OUTSIDE)
}

function outsideOf({ name, input, effect }: Tool): readonly OutsideCommand[] {
  return effect === 'anything' ? outsideCommands(name, input) : []
}

/** Calls that delegate to a subagent do not count: the subagent's own calls are reported. */
function describeWork(event: AgentEvent, { runsToolsTogether }: PolicyOptions): WorkEvent {
  const { type, agent: who, sessionId: session, agentId } = event
  const work = { type: 'event', who, session, agentId } as const
  if (type === 'before-tool') {
    const over = runsToolsTogether ? undefined : 'agent'
    return { ...work, over, begins: isWork(event.tool) ? callKey(event.tool) : undefined }
  }
  if (type === 'after-tool')
    return { ...work, ends: isWork(event.tool) ? callKey(event.tool) : undefined }
  if (type === 'subagent-end') return { ...work, over: 'agent' }
  const isRestart = type === 'session-start' && event.source === 'compact'
  return BETWEEN_TURNS.includes(type) && !isRestart ? { ...work, over: 'session' } : work
}

function isWork({ effect }: Tool): boolean {
  return effect === 'writes' || effect === 'anything'
}

function buildMetadata(event: AgentEvent, { turn }: TurnState): SaveMetadata {
  const turnId = event.turnId ?? turn?.id
  const tool = 'tool' in event ? event.tool : undefined
  return {
    agent: event.agent,
    event: event.eventName,
    at: event.type,
    agentSession: event.sessionId,
    ...(turnId === undefined ? {} : { turnId }),
    ...(turn === undefined || turn.prompt === '' ? {} : { prompt: turn.prompt }),
    ...(tool === undefined ? {} : { tool: labelCall(tool, event.cwd) }),
    ...(tool?.exitStatus === undefined ? {} : { exitStatus: tool.exitStatus }),
    ...(tool?.callId === undefined ? {} : { toolCallId: tool.callId }),
    ...(event.agentId === undefined ? {} : { agentId: event.agentId }),
    ...(event.transcriptPath === undefined ? {} : { transcript: event.transcriptPath }),
  }
}

function toCall(
  { tool, agentId, cwd }: Extract<AgentEvent, { type: 'before-tool' | 'after-tool' }>,
  { hidesText }: PolicyOptions,
): Call {
  const tests = testResultOf(tool)
  const label = hidesText ? labelCall({ ...tool, input: undefined }, cwd) : labelCall(tool, cwd)
  const found = outsideOf(tool)
  const outside = hidesText ? found.map(({ kind }) => ({ kind, command: label })) : found
  return {
    key: callKey(tool),
    label,
    isPending: tool.effect === 'anything' || tool.effect === 'delegates',
    agentId,
    ...(tool.failed === true ? { failed: true } : {}),
    ...(outside.length === 0 ? {} : { outside }),
    ...(tests === undefined ? {} : { tests }),
  }
}
