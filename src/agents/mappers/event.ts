// What coding agents report and what we answer, in our own words. Each agent's file maps its payloads to these
// events and our answers back to what that agent expects.
import type { AgentName } from '../../base/index.js'

/**
 * `reads`: never changes a file; `writes`: changes files by itself alone; `anything`: shell, MCP, unknown; `delegates`: sets
 * a subagent to work whose own calls are reported.
 */
export type ToolEffect = 'reads' | 'writes' | 'anything' | 'delegates'

export type Tool = {
  readonly name: string
  readonly input: unknown
  /** The agent's id of the call. Not all agents have one. */
  readonly callId: string | undefined
  readonly effect: ToolEffect
}

export type EventFields = {
  readonly agent: AgentName
  /** The agent's own name of the event. */
  readonly eventName: string
  readonly sessionId: string
  readonly turnId: string | undefined
  /** The subagent it happened in, if it was in one. */
  readonly agentId: string | undefined
  readonly cwd: string | undefined
  readonly transcriptPath: string | undefined
  /** What the payload had besides, as it was. */
  readonly rest: Readonly<Record<string, unknown>>
}

export type AgentEvent = EventFields &
  (
    | { readonly type: 'session-start'; readonly source: string | undefined }
    | { readonly type: 'turn-start'; readonly prompt: string }
    | { readonly type: 'before-tool'; readonly tool: Tool }
    | { readonly type: 'after-tool'; readonly tool: Tool }
    | { readonly type: 'subagent-start' }
    | { readonly type: 'subagent-end' }
    | { readonly type: 'turn-end' }
    | { readonly type: 'compaction' }
    | { readonly type: 'session-end' }
    /** None of the agent's: nothing was heard of it for a while, and its folder has changed and fallen quiet. */
    | { readonly type: 'quiet' }
  )

export type EventType = AgentEvent['type']

export const EVENT_TYPES: readonly EventType[] = [
  'session-start',
  'turn-start',
  'before-tool',
  'after-tool',
  'subagent-start',
  'subagent-end',
  'turn-end',
  'compaction',
  'session-end',
]

/** Only an event before a tool can stop it; after any other event `stop` is reported, and the agent continues. */
export type Outcome =
  | {
      readonly type: 'go-on'
      /** For the user, in the way the agent offers. */
      readonly tell?: string | undefined
      /** For the model, at the next turn. */
      readonly context?: string | undefined
    }
  | { readonly type: 'stop'; readonly reason: string }

export type Answer = {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** Pure: no files, no clock, no environment. */
export type Mapper = {
  /** Undefined for an event that is none of ours. Throws BAD_INPUT for a payload that is malformed. */
  readonly parse: (eventName: string, payload: unknown) => AgentEvent | undefined
  readonly answer: (event: AgentEvent, outcome: Outcome) => Answer
  /** Whether it has several tool calls under way at once, so that one's beginning does not tell of another's end. */
  readonly runsToolsTogether: boolean
  /** Its events by name, as far as the name alone tells what they are. */
  readonly types: Readonly<Record<string, EventType>>
}

export const SILENCE: Answer = { stdout: '', stderr: '', exitCode: 0 }
