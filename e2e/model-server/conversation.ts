// One form for what the four dialects say about a conversation, so that a test can ask which messages the model was sent.
import { hasScript } from './script.js'

export type Entry =
  /** What a person (or the parent of a subagent) asked for: a text with a script. */
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly text: string }
  /** Whatever else an agent adds: its instructions, reminders, facts about the surroundings. */
  | { readonly kind: 'note'; readonly role: string; readonly text: string }

export interface Tool {
  readonly name: string
  /** Agents group tools; the group is part of the call. */
  readonly namespace?: string
  /** JSON schema of the arguments; a tool without one takes plain text. */
  readonly schema: Readonly<Record<string, unknown>> | undefined
}

export interface ModelRequest {
  readonly dialect: string
  readonly model: string
  readonly stream: boolean
  readonly tools: readonly Tool[]
  readonly entries: readonly Entry[]
}

export interface Call {
  readonly tool: Tool
  readonly input: unknown
}

export type Answer =
  | { readonly kind: 'calls'; readonly calls: readonly Call[] }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'error'; readonly status: number; readonly message: string }

/** An answer of a model that works. */
export type Spoken = Exclude<Answer, { kind: 'error' }>

/** What came in a message of the user: a prompt if it has a script, else a note. */
export function userEntry(text: string): Entry {
  return hasScript(text) ? { kind: 'prompt', text } : { kind: 'note', role: 'user', text }
}

/** The conversation without what the agent adds on its own. */
export function spoken(entries: readonly Entry[]): Entry[] {
  return entries.filter((entry) => entry.kind !== 'note')
}
