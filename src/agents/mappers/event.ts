// The events of coding agents and our answers, independent of the agent. Each agent's file maps its payloads to these events,
// and the answers to what that agent expects.
import type { AgentName } from '../../base/index.js'

/**
 * `reads`: never changes a file. `writes`: changes files itself. `anything`: shell, MCP, unknown. `delegates`: starts a
 * subagent, whose own calls are reported.
 */
export type ToolEffect = 'reads' | 'writes' | 'anything' | 'delegates'

export type Tool = {
  readonly name: string
  readonly input: unknown
  /** The agent's id of the call; some agents have none. */
  readonly callId: string | undefined
  readonly effect: ToolEffect
  /** Present after a call that failed, as far as the agent reports it: an error, or an exit code other than 0. */
  readonly failed?: true
  /** The exit status of a shell command that has ended, as far as the agent reports it. */
  readonly exitStatus?: number
}

export type EventFields = {
  readonly agent: AgentName
  /** The agent's name of the event. */
  readonly eventName: string
  readonly sessionId: string
  readonly turnId: string | undefined
  /** The subagent that sent it, if any. */
  readonly agentId: string | undefined
  readonly cwd: string | undefined
  readonly transcriptPath: string | undefined
  /** The other fields of the payload, unchanged. */
  readonly rest: Readonly<Record<string, unknown>>
}

export type AgentEvent = EventFields &
  (
    | { readonly type: 'session-start'; readonly source: string | undefined }
    | {
        readonly type: 'turn-start'
        readonly prompt: string
        /** The agent reports that a timer or another program wrote the prompt. */
        readonly isMachine?: true
      }
    | { readonly type: 'before-tool'; readonly tool: Tool }
    | { readonly type: 'after-tool'; readonly tool: Tool }
    | { readonly type: 'subagent-start' }
    | { readonly type: 'subagent-end' }
    /** `onlyCalls`: not the end of a turn, but a prompt that no model gets. Calls without an end event are saved. */
    | { readonly type: 'turn-end'; readonly onlyCalls?: true }
    | { readonly type: 'compaction' }
    | { readonly type: 'session-end' }
    /** Not sent by an agent: the daemon saves a session without events whose folder has changed and is idle again. */
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

/**
 * Only an event before a tool can stop it. For any other event, `stop` is reported and the agent continues. `done`: the
 * prompt was a command of ours; the user gets the text, and the model nothing.
 */
export type Outcome =
  | {
      readonly type: 'continue'
      /** For the user. */
      readonly notice?: string | undefined
      /** For the model. */
      readonly context?: string | undefined
    }
  | { readonly type: 'stop'; readonly reason: string }
  | { readonly type: 'done'; readonly text: string }

export type Answer = {
  readonly stdout: string
  readonly stderr: string
  readonly exitCode: number
}

/** Pure: no files, no clock, no environment. */
export type Mapper = {
  /** Undefined for an event that we do not handle. Throws BAD_INPUT for a malformed payload. */
  readonly parse: (eventName: string, payload: unknown) => AgentEvent | undefined
  readonly answer: (event: AgentEvent, outcome: Outcome) => Answer
  /** Whether a hook can keep a prompt from the model and show the user a text instead. */
  readonly canEndPrompt: boolean
  /** Whether it runs tool calls concurrently. If not, the start of a call implies that the previous one has ended. */
  readonly runsToolsTogether: boolean
  /** The types of its events by name. `parse` may adjust the type. */
  readonly types: Readonly<Record<string, EventType>>
}

export const EMPTY_ANSWER: Answer = { stdout: '', stderr: '', exitCode: 0 }
