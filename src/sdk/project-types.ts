// Options of the calls of a project.
import type { BisectCheck, BisectStep, DependencyMode } from '../engine/index.js'
import type { HunkChoice, NamedBy } from '../model/index.js'
import type { CallOptions, RestoreOptions } from './call-options.js'

/** A running watch. It ends with `close`, at the end of `await using`, or when the store is closed. */
export type Watch = {
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Options of `store.project`. */
export type ProjectOptions = {
  /** Watches the folder from the next save on, until `unwatch` or `close`: a save then costs what changed, not what exists. */
  readonly watch?: boolean
}

/** Options of `project.save`. */
export type ProjectSaveOptions = CallOptions & {
  readonly reason?: string
  readonly name?: string
  /** `agent`: the name must be plain text that the user has not given here. Default: `user`. */
  readonly namedBy?: NamedBy
  /** The author of the changes since the last checkpoint, if it was not the user (`you`). */
  readonly author?: string
}

/** Options of `project.rewind`. */
export type ProjectRewindOptions = RestoreOptions & {
  /**
   * Goes to just before what the checkpoint names. For a checkpoint made after a tool call this is the one before it in the
   * project; a checkpoint made before a prompt or call is its own target.
   */
  readonly before?: boolean
  /** Files or folders relative to the project; all of it if left out. */
  readonly paths?: readonly string[]
  /**
   * Keeps what the user (`you`) has changed since: their lines in text files that others changed too, and whole files where
   * lines cannot be separated.
   */
  readonly keepMine?: boolean
  /**
   * Takes back only these changes since the checkpoint, each with the `mark` of the patch that it was chosen from
   * (`project.patch(ref, { path })`). Throws PLAN_STALE if the file has changed since. Not with `paths` or `keepMine`.
   */
  readonly hunks?: readonly HunkChoice[]
  /** The conversation of a coding agent that the caller takes back too. The result of an undo of this rewind returns it. */
  readonly conversation?: { readonly agent: string; readonly session: string }
}

/** Options of `project.undoSteps`. */
export type UndoStepsOptions = RestoreOptions & {
  /**
   * Decides paths that cannot be merged. `refuse` (default) changes nothing and throws MERGE_CONFLICT; `ours` leaves
   * them as they are; `theirs` brings back their whole version from before the step; `markers` writes the conflict markers of
   * git into text files, and refuses others.
   */
  readonly conflict?: 'refuse' | 'ours' | 'theirs' | 'markers'
}

/** Options of `project.open`. */
export type OpenOptions = CallOptions & {
  /** A new or empty folder outside of the project. Default: beside the project, with the start of the id at the end of its name. */
  readonly into?: string
  /** For ignored folders of dependencies, such as node_modules: `link` or `copy` those of the project. Default: `none`. */
  readonly dependencies?: DependencyMode
}

/** Options of `project.bisect`. */
export type BisectOptions = CallOptions & {
  /** Checks a copy of one checkpoint, whose folder is new for each call. `skip`: it cannot be checked. */
  readonly run: BisectCheck
  /** A checkpoint where the check succeeds. Default: the oldest. */
  readonly good?: string
  /** A newer one where it fails. Default: the folder as it is now, which is saved first. */
  readonly bad?: string
  /** A check that fails is repeated so many times (default 1). If one of them succeeds, the checkpoint is good. */
  readonly retries?: number
  /** As for `open`, but `link` is the default. */
  readonly dependencies?: DependencyMode
  /** Keeps the results under this name until the answer is known: a call with it continues an interrupted one. */
  readonly resumeAs?: string
  /** Forgets the results that an interrupted call kept. */
  readonly restart?: boolean
  /** Called before and after each check. */
  readonly onStep?: (step: BisectStep) => void
}

/** Options of `project.diff`. */
export type DiffOptions = CallOptions & {
  /** The checkpoint to compare with; the folder as it is now if left out. */
  readonly to?: string
  /** Compares with the checkpoint with files before it in the project: what the checkpoint itself changed. Not with `to`. */
  readonly previous?: boolean
  /** Files or folders relative to the project; all of it if left out. */
  readonly paths?: readonly string[]
  /** `full` (default): a patch; `stat`: a summary per file; `none`: only the list of changes. */
  readonly patch?: 'none' | 'full' | 'stat'
  /** Colors the patch for a terminal. */
  readonly color?: boolean
  /** Columns of the `stat` summary. */
  readonly width?: number
}

/** Options of `project.patch`. */
export type PatchOptions = CallOptions &
  Pick<DiffOptions, 'to' | 'previous'> & {
    /** The file, relative to the project. */
    readonly path: string
    /** How many unchanged lines to show around a change, 100,000 at most. Default: 3. */
    readonly context?: number
  }

/** Options of `project.history`. */
export type HistoryOptions = CallOptions & {
  readonly limit?: number
  /** The id of a checkpoint of the project: only older ones are found. For the next page, it is the last one of the page before. */
  readonly before?: string
}

/** Options of `project.blame`. Lines count from 1. */
export type BlameOptions = CallOptions & {
  /** The first line; 1 if left out. */
  readonly from?: number
  /** The last line; the end of the file if left out. */
  readonly to?: number
}

/** Options of `project.search`. */
export type SearchOptions = CallOptions & {
  readonly limit?: number
  /** Only checkpoints that changed this file, or a file below this folder; relative to the project. */
  readonly path?: string
  /** Only checkpoints with changes of this author (`you`, or an agent), or of a session of this agent. */
  readonly by?: string
  readonly since?: Date
  /** Also searches the contents of changed files, up to 1 MB each. This takes longer: the index does not have them. */
  readonly content?: boolean
  /** Without effect: the index has the changed paths of all checkpoints. */
  readonly maxCompared?: number
}

/** Options of `project.commits`. */
export type CommitsOptions = CallOptions & {
  /** One commit per prompt (default), per checkpoint, or one for all. */
  readonly per?: 'prompt' | 'step' | 'all'
  /** `mbox` (default) for `git am`, `bundle` for `git fetch`. */
  readonly format?: 'mbox' | 'bundle'
  /**
   * The message: text with `{subject}`, `{body}`, `{prompt}`, `{reason}`, `{name}`, `{agent}`, `{checkpoint}` and `{date}`. The trailers
   * `Savestate-Checkpoint` and `Assisted-by` are added to it.
   */
  readonly template?: string
  /** `Name <mail>`; by default what git is configured with. */
  readonly author?: string
}

/** Options of `project.drop`. */
export type DropOptions = CallOptions & {
  /** The session that the references belong to. */
  readonly of?: string
  /** Returns the plan and removes nothing. */
  readonly dryRun?: boolean
}

/** Options of calls that can show their plan first. */
export type PlanOptions = CallOptions & {
  /** Returns the plan and removes nothing. */
  readonly dryRun?: boolean
}
