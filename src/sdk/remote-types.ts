// Options of the calls of `store.remotes`.
import type { CallOptions } from './call-options.js'
import type { Project } from './project.js'
import type { PruneOptions } from './store-types.js'

/** Options of `store.remotes.add`: with a key file, or plain. */
export type AddRemoteOptions = {
  /** `postgres://host/database`, or a git repository: a URL, `user@host:path`, or an absolute path. */
  readonly url: string
  /** The file with the key that encrypts everything before it leaves this machine. Created if it does not exist. */
  readonly keyFile?: string
  /** Nothing is encrypted. */
  readonly plain?: boolean
  /** PostgreSQL: the schema of the tables. Default: savestate. */
  readonly schema?: string
  /** The daemon pushes after each turn. Default: false. */
  readonly autoPush?: boolean
}

/** Options of `store.remotes.set`. */
export type SetRemoteOptions = Required<Pick<AddRemoteOptions, 'autoPush'>>

type OnRemote = {
  /** The name of the remote. Default: the only one. */
  readonly remote?: string
}

/** Options of `store.remotes.sessions`. */
export type RemoteSessionsOptions = OnRemote &
  Pick<CallOptions, 'onWarning'> & { readonly limit?: number }

/** Options of `store.remotes.push`. Default: everything in the store. */
export type PushOptions = OnRemote &
  Pick<CallOptions, 'signal'> & {
    /** Only these sessions. */
    readonly sessions?: readonly string[]
    /** Only this project: its sessions, and its checkpoints that belong to none. */
    readonly project?: Project
  }

/** Options of `store.remotes.pull`. Default: what is new in the sessions and projects that both sides have. */
export type PullOptions = OnRemote &
  Pick<CallOptions, 'signal'> & {
    /** Only this session, also if it is new here. */
    readonly session?: string
    /** Everything that the remote has. */
    readonly all?: boolean
    /** The folder that the session belongs to from now on, if its project has no folder here yet. No file of it changes. */
    readonly into?: Project
    /** A clone in which the caller works: preferred if several have the same origin. */
    readonly project?: Project
    /** Takes the session from the machine that has it. Steps that it has not shared become a session of their own there. */
    readonly take?: boolean
  }

/** Options of `store.remotes.drop`. */
export type DropFromRemoteOptions = OnRemote & {
  /** Also sessions that another machine has. */
  readonly take?: boolean
  /** Deletes nothing, and returns what would be deleted. */
  readonly dryRun?: boolean
}

/** Options of `store.remotes.handoff`. */
export type HandoffOptions = OnRemote

/** Options of `store.remotes.verify`. */
export type VerifyRemoteOptions = OnRemote & Pick<CallOptions, 'signal'>

/** Options of `store.remotes.prune`. */
export type PruneRemoteOptions = OnRemote &
  Pick<PruneOptions, 'signal' | 'confirm'> & {
    /** Removes nothing: `confirm` gets the plan, and its answer does not count. */
    readonly dryRun?: boolean
  }
