// A common form for the conversations of all four dialects, so that tests can check the messages that the model got.
import { hasScript } from './script.js'

export type Entry =
  /** A prompt by the user, or by the parent of a subagent: a text with a script. */
  | { readonly kind: 'prompt'; readonly text: string }
  | { readonly kind: 'say'; readonly text: string }
  | { readonly kind: 'call'; readonly tool: string; readonly input: unknown }
  | { readonly kind: 'result'; readonly text: string }
  /** Everything else that an agent adds: instructions, reminders, descriptions of the environment. */
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

/** A successful answer. */
export type Spoken = Exclude<Answer, { kind: 'error' }>

/** A message of the user: a prompt if it has a script, otherwise a note. */
export function userEntry(text: string): Entry {
  return hasScript(text) ? { kind: 'prompt', text } : { kind: 'note', role: 'user', text }
}

/** The conversation without the agent's own additions. */
export function spoken(entries: readonly Entry[]): Entry[] {
  return entries.filter((entry) => entry.kind !== 'note')
}
