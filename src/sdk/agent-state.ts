// The usual shape of a state. Any other value can be saved as well.

export type Message = {
  readonly role: string
  readonly content: unknown
  readonly [key: string]: unknown
}

export type ToolCallRecord = {
  readonly toolName: string
  readonly arguments: unknown
  /** Null while it runs. */
  readonly result: unknown
  readonly success: boolean
  readonly [key: string]: unknown
}

export type AgentState = {
  readonly messages?: readonly Message[]
  readonly toolCalls?: readonly ToolCallRecord[]
  readonly partialResults?: readonly string[]
  readonly [key: string]: unknown
}
