// A conversation as a reader wants it: what was said and done, instead of the lines of an agent's transcript.

/** A text that may be cut, with secrets masked. */
export type ItemText = {
  readonly text: string
  /** How many characters were cut off at its end. */
  readonly restLength: number
  /** How many secrets were masked. */
  readonly masked: number
}

export type ConversationPart =
  | { readonly kind: 'prompt' | 'answer' | 'thinking'; readonly text: ItemText }
  | {
      readonly kind: 'call'
      /** Joins the call with its result. */
      readonly id: string
      readonly tool: string
      /** One line: the command, the path, the pattern. */
      readonly summary: string
      /** The arguments as lines `name: value`, or the text that the tool was given. */
      readonly input: ItemText
    }
  | {
      readonly kind: 'result'
      readonly id: string
      readonly isError: boolean
      readonly text: ItemText
      readonly durationMs: number | null
    }
  /** Remarks of the agent's program, such as a summary of an earlier conversation or an interruption. */
  | { readonly kind: 'note'; readonly text: ItemText }

/** A subagent whose conversation is in a file of its own. */
export type StartedSubagent = {
  /** The id of the tool call that started it. */
  readonly call: string
  /** Null if the entry does not say it: Claude Code writes it with the result of the call. */
  readonly agent: string | null
}

/** One stored line or message. It has no parts if there is nothing to read in it. */
export type ConversationItem = {
  /** Its place in the stored list. */
  readonly index: number
  readonly at: string | null
  /** The id of the subagent that it belongs to; null for the main conversation. */
  readonly subagent: string | null
  readonly parts: readonly ConversationPart[]
  /** Left out if there are none. */
  readonly started?: readonly StartedSubagent[]
}
