// What a session is told, and what it tells.
import type * as engine from '../engine/index.js'

export type SaveInput<State> = {
  readonly name?: string
  /** Set where a user or an agent gives the name, not the program: what the user named stays, and agents cannot use it. */
  readonly namedBy?: 'user' | 'agent'
  readonly reason?: string
  /** As it is when `save` is called. */
  readonly state?: State
  /** Also save the folder of the session's project. */
  readonly files?: boolean
  /** With `files`: add nothing while the newest checkpoint of the project holds the same files. */
  readonly ifChanged?: boolean
  readonly status?: engine.StatusInput
  /** As it is then, too. */
  readonly metadata?: unknown
  /** The version of your own state's form. */
  readonly schemaVersion?: number
  /** The tool call this belongs to. */
  readonly toolCall?: string
  /** The checkpoint that must still be the head (null: none yet); else HEAD_MOVED and nothing is written. */
  readonly expectedHead?: string | null
  /** Saved twice under one, it is one checkpoint: for retries. Free again once a rewind has taken that back. */
  readonly operationId?: string
  /** For who saves before and after each tool call of an agent: what begins and ends here. It tells who changed what. */
  readonly moment?: engine.MomentInput
  /** For the same callers: what has run since the last save with files. Changes of ignored files while calls ran make a checkpoint. */
  readonly uncaptured?: 'after-calls' | 'between-calls' | 'forget'
}

export type SessionRewindInput = {
  /** To the checkpoint that the session had before that one. */
  readonly before?: boolean
  readonly restore?: 'files' | 'state' | 'both'
  readonly paths?: readonly string[]
  /** Files that the person (`you`) has changed since stay as they are. */
  readonly keepMine?: boolean
  readonly dryRun?: boolean
}

export type SessionEvents = {
  saved: engine.SessionSaveResult
  rewound: engine.SessionRewindResult
  status: engine.SessionView
  /** Another process has taken the session over, or it was deleted: this one can no longer write. */
  lost: Error
  closed: { readonly id: string }
}
