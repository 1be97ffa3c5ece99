// Everything needed to drive an agent: its program, its arguments, and where its hooks are configured.
import type { Command } from '../drive.js'
import type { Package } from '../install.js'
import type { Sandbox } from '../install-folder.js'
import type { RecordedEvent } from '../record.js'

export interface Agent {
  readonly name: string
  readonly packages: readonly Package[]
  readonly hooks: Hooks
  readonly habits: Habits
  /** Ready to run in a test folder, with its model server. `folders` are those of the packages, in order. */
  at(sandbox: Sandbox, folders: readonly string[]): AgentHere
}

export interface AgentHere {
  /** Installs a command as the hook of every event that matters here; the payload is its input. */
  hook(commandFor: (event: string) => string): void
  ask(prompt: string): Command
  /** Prompts so that the agent has its tool for subagents. */
  askForSubagents(prompt: string): Command
  resume(session: string, prompt: string): Command
  /** Continues the conversation before the turn of this event; the old conversation stays. */
  resumeBefore(turn: RecordedEvent, prompt: string): Promise<Command>
  /** The arguments that the user got for continuing, plus the prompt and headless mode. */
  goOn(args: readonly string[], prompt: string): Command
}

/** The payloads that an agent sends to its hooks. */
export interface Hooks {
  /** Its names for the events that all agents have. */
  readonly events: {
    readonly start: string
    readonly prompt: string
    readonly before: string
    readonly after: string
    readonly turnEnd: string
    readonly end: string
  }
  /** Its names for tools in payloads. */
  readonly tools: {
    readonly write: string
    readonly shell: string
    readonly remove: string
    readonly spawn: string
  }
  /** The paths of fields in a payload. */
  readonly paths: {
    readonly session: string
    readonly tool: string
    /** Not every agent has an id for a call. */
    readonly call?: string
    /** The field that identifies a subagent's event. */
    readonly subagent?: string
  }
  /** Other fields that an event must have. */
  readonly fields: Readonly<Record<string, readonly string[]>>
}

/** The behavior of an agent on failures. */
export interface Habits {
  /** Its running command survives when the agent is killed. */
  readonly commandOutlivesKill: boolean
  /** After a model error it sends the same event as after a successful turn. */
  readonly endsTurnAfterError: boolean
  /** A resumed conversation contains every tool result twice. */
  readonly repeatsResults: boolean
  /** It skips hooks silently until the user has trusted them. */
  readonly demandsTrust: boolean
  /** It has rules for paths that an install can add. */
  readonly hasDenyRules: boolean
  /** Headless too it shows why a hook has kept a prompt from the model. */
  readonly showsBlockedPrompt: boolean
  /** A hook can be an HTTP request instead of a command. */
  readonly hasHttpHooks: boolean
}
