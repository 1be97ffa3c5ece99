// Options of the calls of a project.
import type { BisectCheck, BisectStep, DependencyMode } from '../engine/index.js'
import type { NamedBy } from '../model/index.js'
import type { CallOptions, RestoreOptions } from './call-options.js'

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
  /** Keeps files that the user (`you`) has changed since. */
  readonly keepMine?: boolean
  /** The conversation of a coding agent that the caller takes back too. The result of an undo of this rewind returns it. */
  readonly conversation?: { readonly agent: string; readonly session: string }
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

/** Options of `project.search`. */
export type SearchOptions = CallOptions & {
  readonly limit?: number
  /** How many snapshots to compare with the ones before them, newest first, to find changed paths; 1,000 if left out. */
  readonly maxCompared?: number
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
