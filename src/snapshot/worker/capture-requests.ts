// The requests and answers of the capture thread that have no better home; capture-calls.ts has the calls.
import type {
  BytePath,
  CaptureLimits,
  Durability,
  ObjectId,
  OwnedPath,
  Project,
  ProjectId,
  RestorePlan,
} from '../../model/index.js'
import type { CaptureTarget } from '../capture/capture-target.js'
import type { PatchRequest } from '../compare/patch.js'
import type { CommitMetadata } from '../objects/commit.js'
import type { Aside } from '../restore/asides.js'
import type { LeftOut } from '../restore/rules-of-target.js'

export type CaptureData = {
  readonly home: string
  readonly durable: boolean
}

export type SnapshotsOptions = {
  /** The store's real path. */
  readonly home: string
  readonly durability: Durability
  /** The current settings of a project. */
  readonly limitsOf: (project: Pick<Project, 'path'>) => CaptureLimits
  /** The caller's event loop may block, as in a one-shot command: run the calls without a thread. */
  readonly inProcess: boolean
}

/** A request without the fields that Snapshots fills in from the project. */
export type Unplaced<Request> = Omit<Request, 'project' | 'root'>

export type CaptureRequest = {
  readonly project: ProjectId
  readonly target: CaptureTarget
  /** Snapshots of the project's newest checkpoints, newest first. */
  readonly knownTrees: readonly ObjectId[]
  /** Start a watch on the project if there is none. */
  readonly watch: boolean
  /** The caller calls `record` next, or drops the snapshot. A few new objects are then written with the record; until then they cannot be read. */
  readonly deferObjects: boolean
  /** Captured even if a rule excludes them. Not with `deferObjects`. */
  readonly named?: NamedPaths | undefined
}
/** See docs/internals/rewind-and-rules.md. */
export type NamedPaths = {
  /** Every path in this snapshot. With `inside`: only paths at, below or above one of those. */
  readonly tree?: ObjectId | undefined
  readonly inside?: readonly BytePath[] | undefined
  readonly paths?: readonly BytePath[] | undefined
}
export type RecordRequest = {
  readonly facts: CommitMetadata
  /** Count the changes since this snapshot, or since an empty one. Undefined: do not count. */
  readonly since: { readonly tree: ObjectId | undefined } | undefined
}
export type RestoreTarget = {
  /** The tree of the capture just made. */
  readonly now: ObjectId
  readonly goal: ObjectId
  /** Paths that the goal skipped: they stay. Undefined where `only` names paths that a rewind itself changed. */
  readonly leftOut?: LeftOut | undefined
  /** Files and folders to restore; undefined for everything. */
  readonly paths: readonly BytePath[] | undefined
  /** Exactly these paths, for an undo. */
  readonly only: readonly BytePath[] | undefined
  /** Never these paths. */
  readonly leave?: readonly BytePath[] | undefined
}
export type ExpectRequest = {
  readonly target: CaptureTarget
  readonly trees: readonly ObjectId[]
  readonly paths: readonly BytePath[]
}
export type PlanRequest = RestoreTarget & Pick<CaptureRequest, 'project' | 'target'>
export type ApplyRequest = Omit<RewindRoot, 'rootInode'> & {
  readonly tag: string
  readonly plan: RestorePlan
  readonly sweep: readonly BytePath[]
  /** The owners that the target checkpoint recorded; undefined if it recorded none. */
  readonly ownersThen: readonly OwnedPath[] | undefined
}

/** The folder of a rewind, identified by the inode it had when the rewind began. */
type RewindRoot = {
  readonly project: ProjectId
  readonly root: BytePath
  readonly rootInode: string
}

export type SettleRequest = RewindRoot & {
  readonly asides: readonly Aside[]
  /** The snapshot to which unsaved contents are added. */
  readonly base: ObjectId
}
export type SettleResult = {
  /** The asides that could not be removed yet. */
  readonly rest: readonly Aside[]
  /** A snapshot for the caller to record: it contains the contents that were in no checkpoint. */
  readonly saved: { readonly tree: ObjectId; readonly paths: readonly BytePath[] } | undefined
}
export type FindAsidesRequest = RewindRoot & {
  readonly tag: string
  readonly sweep: readonly BytePath[]
  /** For each path of the journal, the contents that a checkpoint contains. */
  readonly known: ReadonlyMap<BytePath, Aside['known']>
}

/** `before` is undefined for an empty snapshot. */
export type SnapshotPatchRequest = Omit<PatchRequest, 'before'> & {
  readonly before: ObjectId | undefined
}
export type FilePatchRequest = {
  /** Undefined for an empty snapshot. */
  readonly before: ObjectId | undefined
  readonly after: ObjectId
  readonly path: BytePath
  /** How many unchanged lines to show around a change. */
  readonly context: number
}

export type RewriteRequest = {
  readonly project: ProjectId
  /** Undefined: keep the snapshots and rewrite only the commits. */
  readonly path: BytePath | undefined
  readonly checkpoints: readonly CommitMetadata[]
}
