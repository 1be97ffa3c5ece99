// What the bed needs to know of an agent to drive it: where its program is, how it is called, where its hooks go.
import type { Command } from '../drive.js'
import type { Package } from '../install.js'
import type { Place } from '../install-folder.js'
import type { RecordedEvent } from '../record.js'

export interface Agent {
  readonly name: string
  readonly packages: readonly Package[]
  readonly hooks: Hooks
  readonly habits: Habits
  /** Ready to run in a place, against the place's model. `folders` are those of the packages, in order. */
  at(place: Place, folders: readonly string[]): AgentHere
}

export interface AgentHere {
  /** Installs a command as the hook of every event that matters here; the payload is its input. */
  hook(commandFor: (event: string) => string): void
  ask(prompt: string): Command
  /** Asks in such a way that the agent has its tool for subagents. */
  askForSubagents(prompt: string): Command
  resume(session: string, prompt: string): Command
  /** Continues as if the turn of this event, and all after it, had not been; the old conversation stays. */
  resumeBefore(turn: RecordedEvent, prompt: string): Promise<Command>
  /** The command that a person was given to go on with, without its program; here with the prompt, and headless. */
  goOn(args: readonly string[], prompt: string): Command
}

/** What an agent tells its hooks. */
export interface Hooks {
  /** What it calls the moments that all agents have. */
  readonly events: {
    readonly start: string
    readonly prompt: string
    readonly before: string
    readonly after: string
    readonly turnEnd: string
    readonly end: string
  }
  /** What it calls its tools towards a hook. */
  readonly tools: {
    readonly write: string
    readonly shell: string
    readonly remove: string
    readonly spawn: string
  }
  /** Where in a payload things stand. */
  readonly paths: {
    readonly session: string
    readonly tool: string
    /** Not every agent has an id for a call. */
    readonly call?: string
    /** What tells a subagent's event from its parent's. */
    readonly subagent?: string
  }
  /** The fields that an event must have, beside those above. */
  readonly fields: Readonly<Record<string, readonly string[]>>
}

/** What an agent does when things go wrong. */
export interface Habits {
  /** Its running command goes on when the agent is killed. */
  readonly commandOutlivesKill: boolean
  /** An error of the model is followed by the same event as a turn that went well. */
  readonly endsTurnAfterError: boolean
  /** A resumed conversation brings every result of a tool twice. */
  readonly repeatsResults: boolean
  /** Hooks are passed over in silence until the person has trusted them. */
  readonly demandsTrust: boolean
  /** It has rules for paths that an install can add. */
  readonly hasDenyRules: boolean
  /** A hook can be an HTTP request instead of a command. */
  readonly hasHttpHooks: boolean
}
