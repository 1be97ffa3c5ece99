// From a payload to an event: what is the same for all agents. An agent says which of its events is which of ours,
// and where in its payloads the facts are.
import type { AgentName } from '../../base/index.js'
import type { AgentEvent, EventFacts, EventType, Tool, ToolEffect } from './event.js'
import { Payload } from './payload.js'

export type Facts = Omit<EventFacts, 'agent' | 'eventName' | 'rest'>

export type EventMap = {
  readonly agent: AgentName
  readonly types: Readonly<Record<string, EventType>>
  facts(payload: Payload): Facts
  prompt(payload: Payload): string
  tool(payload: Payload, eventName: string): Tool
}

/** Undefined for an event that the map does not know. Throws BAD_INPUT. */
export function mapEvent(map: EventMap, eventName: string, given: unknown): AgentEvent | undefined {
  const type = Object.hasOwn(map.types, eventName) ? map.types[eventName] : undefined
  if (type === undefined) return undefined
  const payload = new Payload(map.agent, eventName, given)
  const facts = { agent: map.agent, eventName, ...map.facts(payload) }
  payload.value('hook_event_name')
  // What is read last is not part of the rest, so each case reads first.
  switch (type) {
    case 'session-start': {
      const source = payload.text('source')
      return { ...facts, type, source, rest: payload.rest() }
    }
    case 'turn-start': {
      const prompt = map.prompt(payload)
      return { ...facts, type, prompt, rest: payload.rest() }
    }
    case 'before-tool':
    case 'after-tool': {
      const tool = map.tool(payload, eventName)
      return { ...facts, type, tool, rest: payload.rest() }
    }
    case 'subagent-start':
    case 'subagent-end':
    case 'turn-end':
    case 'compaction':
    case 'session-end':
    case 'quiet':
      return { ...facts, type, rest: payload.rest() }
  }
}

/** What each tool of an agent can do. What is not named can do anything. */
export type ToolTable = {
  readonly reads: readonly string[]
  readonly writes: readonly string[]
  readonly delegates?: readonly string[]
}

export function effectOf({ reads, writes, delegates }: ToolTable, name: string): ToolEffect {
  if (reads.includes(name)) return 'reads'
  if (delegates?.includes(name) === true) return 'delegates'
  return writes.includes(name) ? 'writes' : 'anything'
}

/** Facts where Claude Code, Codex, Gemini CLI and Hermes have them. */
export function usualFacts(payload: Payload): Facts {
  return {
    sessionId: payload.needed('session_id'),
    turnId: payload.id('turn_id'),
    agentId: payload.id('agent_id'),
    cwd: payload.path('cwd'),
    transcriptPath: payload.path('transcript_path'),
  }
}

/** A tool where the same have it. */
export function usualTool(payload: Payload, table: ToolTable): Tool {
  const name = payload.toolName('tool_name')
  return {
    name,
    input: payload.value('tool_input'),
    callId: payload.id('tool_use_id'),
    effect: effectOf(table, name),
  }
}

/** An empty prompt is one: some agents send it with nothing but an image. */
export function usualPrompt(payload: Payload): string {
  return payload.text('prompt') ?? ''
}
