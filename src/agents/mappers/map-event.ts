// Maps payloads to events and outcomes to answers: the parts that all agents share. Each agent defines the types of its
// events, the fields of its payloads, and the form of its answers.
import type { AgentName, Fields } from '../../base/index.js'
import {
  type AgentEvent,
  type Answer,
  type EventFields,
  type EventType,
  type Mapper,
  type Outcome,
  EMPTY_ANSWER,
  type Tool,
  type ToolEffect,
} from './event.js'
import { Payload } from './payload.js'

type OwnFields = Omit<EventFields, 'agent' | 'eventName' | 'rest'>

type AgentDefinition = {
  readonly agent: AgentName
  readonly runsToolsTogether: boolean
  readonly types: Readonly<Record<string, EventType>>
  /** The effect of each tool. An unlisted tool can do anything. */
  readonly tools: ToolTable
  /** Omitted if the payloads have the fields of Claude Code. */
  readonly fields?: (payload: Payload) => OwnFields
  readonly prompt?: (payload: Payload) => string | undefined
  readonly tool?: (payload: Payload, eventName: string) => Omit<Tool, 'effect'> & Partial<Tool>
  /** Whether the call of an after-tool event failed. Omitted if the payloads do not say it. */
  readonly failed?: (payload: Payload, eventName: string) => boolean
  /** The exit status of the shell command of an after-tool event. Omitted if the payloads do not say it. */
  readonly exitStatus?: (payload: Payload, eventName: string) => number | undefined
  /** Corrects the event; undefined drops it. */
  readonly adjust?: (event: AgentEvent) => AgentEvent | undefined
  /** Whether a timer or another program wrote the prompt, as far as the payload says it. */
  readonly isMachine?: (payload: Payload) => boolean
  /** The answer that keeps a tool from running. */
  readonly deny: (reason: string, event: AgentEvent) => Fields
  /** The answer that keeps a prompt from the model and shows the user a text. Omitted if the agent has none. */
  readonly endPrompt?: (text: string) => Fields
  /** The answer with a notice for the user and a context for the model. Text on stderr is for the user. */
  readonly say: (texts: Texts, event: AgentEvent) => { readonly json?: Fields; stderr?: string }
}

type ToolTable = {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly delegates?: readonly string[]
}

type Texts = { readonly notice: string | undefined; readonly context: string | undefined }

export function defineAgent(definition: AgentDefinition): Mapper {
  const { runsToolsTogether, types, adjust = (event) => event, deny, endPrompt, say } = definition
  return {
    runsToolsTogether,
    types,
    canEndPrompt: endPrompt !== undefined,
    parse(eventName, payload) {
      const event = mapEvent(definition, eventName, payload)
      return event === undefined ? undefined : adjust(event)
    },
    answer(event, outcome) {
      if (outcome.type === 'stop' && event.type === 'before-tool')
        return formatAnswer({ json: deny(outcome.reason, event) })
      if (outcome.type === 'done' && endPrompt !== undefined)
        return formatAnswer({ json: endPrompt(outcome.text) })
      const texts = textsOf(outcome)
      return formatAnswer(say(texts, event))
    },
  }
}

function textsOf(outcome: Outcome): Texts {
  if (outcome.type === 'stop') return { notice: outcome.reason, context: undefined }
  if (outcome.type === 'done') return { notice: outcome.text, context: undefined }
  return { notice: outcome.notice, context: outcome.context }
}

function formatAnswer({ json, stderr }: ReturnType<AgentDefinition['say']>): Answer {
  const text = json === undefined ? '{}' : JSON.stringify(json)
  return {
    ...EMPTY_ANSWER,
    stdout: text === '{}' ? '' : `${text}\n`,
    stderr: stderr === undefined ? '' : `${stderr}\n`,
  }
}

/** Undefined for an event that is not in the agent's table. Throws BAD_INPUT. */
function mapEvent(
  definition: AgentDefinition,
  eventName: string,
  given: unknown,
): AgentEvent | undefined {
  const { agent, types, tools, prompt = usualPrompt, tool: readTool = usualTool } = definition
  const type = Object.hasOwn(types, eventName) ? types[eventName] : undefined
  if (type === undefined) return undefined
  const payload = new Payload(agent, eventName, given)
  const fields = { agent, eventName, ...(definition.fields ?? usualFields)(payload) }
  payload.value('hook_event_name')
  // `rest` returns the fields that were not read before, so it comes last.
  switch (type) {
    case 'session-start': {
      const source = payload.text('source')
      return { ...fields, type, source, rest: payload.rest() }
    }
    case 'turn-start': {
      // A prompt can be empty: some agents send one with only an image.
      const text = prompt(payload) ?? ''
      const machine = definition.isMachine?.(payload) === true ? { isMachine: true as const } : {}
      return { ...fields, type, prompt: text, ...machine, rest: payload.rest() }
    }
    case 'before-tool':
    case 'after-tool': {
      const read = readTool(payload, eventName)
      const hasFailed = type === 'after-tool' && definition.failed?.(payload, eventName) === true
      const failed = hasFailed ? { failed: true as const } : {}
      const status = type === 'after-tool' ? definition.exitStatus?.(payload, eventName) : undefined
      const exit = status === undefined ? {} : { exitStatus: status }
      const tool = { effect: effectOf(tools, read.name), ...read, ...failed, ...exit }
      return { ...fields, type, tool, rest: payload.rest() }
    }
    default:
      return { ...fields, type, rest: payload.rest() }
  }
}

/** The number in the first group of the pattern; undefined if the text does not match. */
export function numberIn(text: unknown, pattern: RegExp): number | undefined {
  const found = typeof text === 'string' ? pattern.exec(text)?.[1] : undefined
  return found === undefined ? undefined : Number(found)
}

/** Splits at white space. */
export function names(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

function effectOf({ reads, writes, delegates }: ToolTable, name: string): ToolEffect {
  if (reads.includes(name)) return 'reads'
  if (delegates?.includes(name) === true) return 'delegates'
  return writes.includes(name) ? 'writes' : 'anything'
}

/** The fields of Claude Code, Codex, Gemini CLI and Hermes. */
export function usualFields(payload: Payload): OwnFields {
  return {
    sessionId: payload.needed('session_id'),
    turnId: payload.id('turn_id'),
    agentId: payload.id('agent_id'),
    cwd: payload.path('cwd'),
    transcriptPath: payload.path('transcript_path'),
  }
}

/** The tool, in the fields of the same agents. */
export function usualTool(payload: Payload): Omit<Tool, 'effect'> {
  return {
    name: payload.toolName('tool_name'),
    input: payload.value('tool_input'),
    callId: payload.id('tool_use_id'),
  }
}

function usualPrompt(payload: Payload): string | undefined {
  return payload.text('prompt')
}

/** For Claude Code and Codex. */
export function blockPrompt(reason: string): Fields {
  return { decision: 'block', reason }
}

/** For Claude Code, Codex and Gemini CLI, which accept a context for the model only on some events. */
export function sayLikeClaude(takesContext: readonly string[]): AgentDefinition['say'] {
  return ({ notice, context }, { eventName }) => ({
    json: {
      ...(notice === undefined ? {} : { systemMessage: notice }),
      ...(context === undefined || !takesContext.includes(eventName)
        ? {}
        : { hookSpecificOutput: { hookEventName: eventName, additionalContext: context } }),
    },
  })
}
