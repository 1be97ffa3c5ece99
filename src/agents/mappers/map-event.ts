// From a payload to an event, and from an outcome to an answer: the parts that are the same for all agents. An agent says
// which of its events is which of ours, where its payloads have the fields, and how it wants to be answered.
import type { AgentName, Fields } from '../../base/index.js'
import {
  type AgentEvent,
  type Answer,
  type EventFields,
  type EventType,
  type Mapper,
  SILENCE,
  type Tool,
  type ToolEffect,
} from './event.js'
import { Payload } from './payload.js'

type OwnFields = Omit<EventFields, 'agent' | 'eventName' | 'rest'>

type AgentDefinition = {
  readonly agent: AgentName
  readonly runsToolsTogether: boolean
  readonly types: Readonly<Record<string, EventType>>
  /** What each tool can do. A tool that is not listed can do anything. */
  readonly tools: ToolTable
  /** Left out where they are as in the payloads of Claude Code. */
  readonly fields?: (payload: Payload) => OwnFields
  readonly prompt?: (payload: Payload) => string | undefined
  readonly tool?: (payload: Payload, eventName: string) => Omit<Tool, 'effect'> & Partial<Tool>
  /** The event that it really is; undefined if it is none of ours. */
  readonly adjust?: (event: AgentEvent) => AgentEvent | undefined
  /** The answer that keeps a tool from running. */
  readonly deny: (reason: string, event: AgentEvent) => Fields
  /** The answer with a text for the user, or for the model at the next turn. Texts on stderr are for the user. */
  readonly say: (texts: Texts, event: AgentEvent) => { readonly json?: Fields; stderr?: string }
}

type ToolTable = {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly delegates?: readonly string[]
}

type Texts = { readonly tell: string | undefined; readonly context: string | undefined }

export function defineAgent(definition: AgentDefinition): Mapper {
  const { runsToolsTogether, types, adjust = (event) => event, deny, say } = definition
  return {
    runsToolsTogether,
    types,
    parse(eventName, payload) {
      const event = mapEvent(definition, eventName, payload)
      return event === undefined ? undefined : adjust(event)
    },
    answer(event, outcome) {
      if (outcome.type === 'stop' && event.type === 'before-tool')
        return answerOf({ json: deny(outcome.reason, event) })
      const texts =
        outcome.type === 'stop'
          ? { tell: outcome.reason, context: undefined }
          : { tell: outcome.tell, context: outcome.context }
      return answerOf(say(texts, event))
    },
  }
}

function answerOf({ json, stderr }: ReturnType<AgentDefinition['say']>): Answer {
  const text = json === undefined ? '{}' : JSON.stringify(json)
  return {
    ...SILENCE,
    stdout: text === '{}' ? '' : `${text}\n`,
    stderr: stderr === undefined ? '' : `${stderr}\n`,
  }
}

/** Undefined for an event that the agent's table does not have. Throws BAD_INPUT. */
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
  // `rest` has only what was not read before it, so it is read last.
  switch (type) {
    case 'session-start': {
      const source = payload.text('source')
      return { ...fields, type, source, rest: payload.rest() }
    }
    case 'turn-start': {
      // An empty prompt is one too: some agents send it with nothing but an image.
      const text = prompt(payload) ?? ''
      return { ...fields, type, prompt: text, rest: payload.rest() }
    }
    case 'before-tool':
    case 'after-tool': {
      const read = readTool(payload, eventName)
      const tool = { effect: effectOf(tools, read.name), ...read }
      return { ...fields, type, tool, rest: payload.rest() }
    }
    case 'subagent-start':
    case 'subagent-end':
    case 'turn-end':
    case 'compaction':
    case 'session-end':
    case 'quiet':
      return { ...fields, type, rest: payload.rest() }
  }
}

/** A list of names, separated by white space. */
export function names(text: string): readonly string[] {
  return text.trim().split(/\s+/)
}

function effectOf({ reads, writes, delegates }: ToolTable, name: string): ToolEffect {
  if (reads.includes(name)) return 'reads'
  if (delegates?.includes(name) === true) return 'delegates'
  return writes.includes(name) ? 'writes' : 'anything'
}

/** The fields where Claude Code, Codex, Gemini CLI and Hermes have them. */
export function usualFields(payload: Payload): OwnFields {
  return {
    sessionId: payload.needed('session_id'),
    turnId: payload.id('turn_id'),
    agentId: payload.id('agent_id'),
    cwd: payload.path('cwd'),
    transcriptPath: payload.path('transcript_path'),
  }
}

/** A tool where the same agents have it. */
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

/** How Claude Code, Codex and Gemini CLI take texts; the model gets them only after some events. */
export function sayLikeClaude(takesContext: readonly string[]): AgentDefinition['say'] {
  return ({ tell, context }, { eventName }) => ({
    json: {
      ...(tell === undefined ? {} : { systemMessage: tell }),
      ...(context === undefined || !takesContext.includes(eventName)
        ? {}
        : { hookSpecificOutput: { hookEventName: eventName, additionalContext: context } }),
    },
  })
}
