// Options and events of a session.
import type * as engine from '../engine/index.js'
import type { CallOptions, RestoreOptions } from './call-options.js'

/** Options of `session.save`. */
export type SessionSaveOptions<State> = CallOptions & {
  readonly name?: string
  /** Set if a user or an agent gives the name, not the program: a name by the user stays, and agents cannot use it. */
  readonly namedBy?: 'user' | 'agent'
  readonly reason?: string
  /** Stored as it is when `save` is called. */
  readonly state?: State
  /** Also saves the folder of the session's project. */
  readonly files?: boolean
  /** With `files`: adds nothing while the newest checkpoint of the project holds the same files. */
  readonly ifChanged?: boolean
  readonly status?: engine.StatusInput
  /** Any value; stored as it is when `save` is called. */
  readonly metadata?: unknown
  /** The version of your own state's form. */
  readonly schemaVersion?: number
  /** The tool call this belongs to. */
  readonly toolCall?: string
  /** The checkpoint that must still be the head (null: none yet), like If-Match; else HEAD_MOVED and nothing is written. */
  readonly ifHead?: string | null
  /** For retries: two saves with the same id make one checkpoint. Free again once a rewind has taken that checkpoint back. */
  readonly operationId?: string
  /** For the hooks of agents: the event that begins or ends here, which decides who changed what. @internal */
  readonly moment?: engine.WorkEvent
  /** For the same callers: what ran since the last save with files, to report changes of ignored files. @internal */
  readonly uncaptured?: 'after-calls' | 'between-calls' | 'forget'
}

/** Options of `session.append`. */
export type AppendOptions<State> = Omit<SessionSaveOptions<State>, 'state'>

/** Options of `session.saveOncePerTurn`. */
export type OncePerTurnOptions = CallOptions & {
  readonly reason: string
}

/** Options of `session.stateAt`. */
export type StateOptions<Key extends PropertyKey> = {
  /** Reads only these keys of the state. */
  readonly keys: readonly Key[]
}

/** Options of `session.listAt`. */
export type ListAtOptions = {
  /** The checkpoint; the head if left out. */
  readonly ref?: string | undefined
  /** The index of the first item. */
  readonly from: number
  readonly limit: number
}

/** Some items of a list, and the length of the whole list. */
export type ListSlice<List> = {
  readonly items: List extends readonly (infer Item)[] | undefined
    ? readonly Item[]
    : readonly unknown[]
  readonly total: number
}

/** Options of `session.rewind`. */
export type SessionRewindOptions = RestoreOptions & {
  /** Goes to the checkpoint that the session had before that one. */
  readonly before?: boolean
  /** Default: both, as far as the checkpoint has both. */
  readonly restore?: 'files' | 'state' | 'both'
  /** Files or folders relative to the project; all of it if left out. */
  readonly paths?: readonly string[]
  /** Keeps files that the user (`you`) has changed since. */
  readonly keepMine?: boolean
}

/** Options of `session.resolveToolCall`. */
export type ToolCallResolution = {
  /**
   * `confirmed`: it happened, and `result` is its result. `retry`: it did not happen, or may happen twice: the next call of
   * that id runs. `skipped`: it must not happen: the next call of that id returns undefined.
   */
  readonly as: 'confirmed' | 'retry' | 'skipped'
  readonly result?: unknown
}

/** The events of a session, with the arguments of their listeners. */
export type SessionEvents = {
  saved: [saved: engine.SessionSaveResult]
  rewound: [result: engine.SessionRewindResult]
  status: [session: engine.SessionView]
  /** Another process has taken the session over, or it was deleted: this one can no longer write. */
  lost: [error: Error]
  closed: [session: { readonly id: string }]
}
