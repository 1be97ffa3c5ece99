// Options and results of the calls of a store.
import type * as engine from '../engine/index.js'
import type { PruneOptions as PruneInput, StatusWord } from '../model/index.js'
import type { CallOptions } from './call-options.js'
import type { Known } from './opening/validate-options.js'
import type { Project } from './project.js'
import type { Session } from './session.js'

/** Which checkpoints to list, iterate or count. */
export type CheckpointQuery = {
  /** Only checkpoints of this name. */
  readonly name?: string | undefined
  /** Created at this time or later. */
  readonly since?: Date | undefined
  /** Created at this time or earlier. */
  readonly until?: Date | undefined
  /** Only checkpoints older than the one with this id, such as the last one of a page. */
  readonly before?: string | undefined
}

/** The same for a project or the store. */
export type ScopeQuery = CheckpointQuery & {
  /** Only checkpoints of this session, by its id. */
  readonly session?: string | undefined
}

/** Options of lists, besides the query. */
export type ListOptions = Pick<CallOptions, 'signal' | 'onWarning'> & {
  /** At most this many, the newest first. */
  readonly limit?: number | undefined
}

/** Options of `list` and `iterate` of a session. */
export type SessionListQuery = CheckpointQuery & ListOptions

/** Options of `list` and `iterate` of a project and of the store. */
export type ListQuery = ScopeQuery & ListOptions

/** Options of `store.session`. */
export type SessionOptions = {
  /** The name of the agent, for people. */
  readonly agent?: string | undefined
  /** The folder it works in; needed to save files. */
  readonly project?: Project | undefined
  readonly metadata?: unknown
  /** False: throws SESSION_UNKNOWN instead of beginning a session. Default: true. */
  readonly create?: boolean | undefined
  /** False: no lease. For a caller that is not the only writer of the session and orders its writes itself. */
  readonly lease?: boolean | undefined
}

export const SESSION_OPTIONS: Known<SessionOptions> = {
  agent: true,
  project: true,
  metadata: true,
  create: true,
  lease: true,
}

/** Options of `store.resume`. */
export type ResumeOptions = CallOptions &
  Pick<SessionOptions, 'agent' | 'project' | 'metadata'> & {
    /** Begins the session if there is none, with `agent`, `project` and `metadata`. Default: false. */
    readonly create?: boolean | undefined
    /**
     * A folder, created if there is none: it becomes the project of the session, and gets the files of its newest checkpoint with
     * files. Its present content is captured first.
     */
    readonly into?: string | undefined
  }

export const RESUME_OPTIONS: Known<Omit<ResumeOptions, keyof CallOptions>> = {
  create: true,
  agent: true,
  project: true,
  metadata: true,
  into: true,
}

/** Options of `store.claim`. */
export type ClaimOptions = CallOptions & {
  /** Only sessions of the agent with this name. */
  readonly agent?: string | undefined
  /** See `ResumeOptions`. */
  readonly into?: string | undefined
}

export const CLAIM_OPTIONS: Known<Omit<ClaimOptions, keyof CallOptions>> = {
  agent: true,
  into: true,
}

/** Options of `store.fork`. */
export type ForkOptions = {
  /** The id of the new session. */
  readonly session: string
  /** The session that the reference belongs to. */
  readonly of?: string
  readonly agent?: string
  /** A new or empty folder: it gets the files of the checkpoint, and becomes the project of the new session. */
  readonly into?: string
  /** With `into`: see `OpenOptions`. */
  readonly dependencies?: engine.DependencyMode
}

export const FORK_OPTIONS: Known<ForkOptions> = {
  session: true,
  of: true,
  agent: true,
  into: true,
  dependencies: true,
}

/** A session that was resumed, and what its agent has to know. */
export type ResumedSession<State> = Omit<engine.Resumed, 'context' | 'session' | 'state'> & {
  /** Open for writing: the lease of a dead process has been taken over. */
  readonly session: Session<State>
  readonly info: engine.SessionView
  readonly state: State | undefined
}

/** Which sessions to list. */
export type SessionsQuery = {
  readonly status?: StatusWord
  /** True: only sessions in progress that no process continues. */
  readonly interrupted?: boolean
  /** Only sessions of the project with this path (`project.path`). */
  readonly project?: string
  readonly limit?: number
}

/** Options of `store.prune`. */
export type PruneOptions = PruneInput &
  CallOptions & {
    /** Called with the plan if there is something to remove; without it the plan is carried out. */
    readonly confirm?: ((planned: engine.PruneResult) => Promise<boolean> | boolean) | undefined
  }

/** Options of `store.verify`. */
export type VerifyOptions = CallOptions & {
  /** Checks only the structure, not the contents. */
  readonly quick?: boolean
}

/** Options of `store.rekey`. */
export type RekeyOptions = CallOptions & {
  /** Decrypts the store instead. */
  readonly plain?: boolean
  /** Returns the plan and changes nothing. */
  readonly dryRun?: boolean
}

/** @internal */
export type ImportCheckpointsOptions = CallOptions & {
  readonly histories: readonly engine.ImportHistory[]
  /** Sources that the caller could not read, for the plan. */
  readonly problems?: readonly engine.ImportProblem[]
  /** Put in front of the ids of new sessions. */
  readonly prefix?: string
  /** Only the plan. */
  readonly dryRun?: boolean
  readonly confirm?: ((plan: engine.ImportPlan) => Promise<boolean>) | undefined
}
