// What the calls of a store take and give.
import type * as engine from '../engine/index.js'
import type { StatusWord } from '../model/index.js'
import type { Known } from './opening/validate-options.js'
import type { Project } from './project.js'
import type { Session } from './session.js'

export type SessionOptions = {
  /** The name of the agent, for people. */
  readonly agent?: string
  /** The folder it works in; needed to save files. */
  readonly project?: Project
  readonly metadata?: unknown
  /** False: no lease. For a caller that is not the only writer of the session and orders its writes itself. */
  readonly lease?: boolean
  /** Throws SESSION_UNKNOWN instead of making a session. */
  readonly mustExist?: boolean
}

export const SESSION_OPTIONS: Known<SessionOptions> = {
  agent: true,
  project: true,
  metadata: true,
  lease: true,
  mustExist: true,
}

export type ImportCheckpointsInput = {
  readonly histories: readonly engine.ImportHistory[]
  /** What the caller could not read, for the plan. */
  readonly problems?: readonly engine.ImportProblem[]
  /** Put in front of the ids of new sessions. */
  readonly prefix?: string
  /** Only the plan. */
  readonly dryRun?: boolean
}

export type ResumedSession<State> = Omit<engine.Resumed, 'context' | 'session' | 'state'> & {
  /** Open for writing: the right of a dead process has been taken over. */
  readonly session: Session<State>
  readonly info: engine.SessionView
  readonly state: State | undefined
}

/** Filters for the list of sessions. */
export type SessionsInput = {
  readonly status?: StatusWord
  readonly interrupted?: boolean
  /** Only those of the project with this path (`project.path`). */
  readonly project?: string
  readonly limit?: number
}
