// What can be asked of the capture thread.
import type {
  BytePath,
  CaptureLimits,
  ChangeCounts,
  Durability,
  ObjectId,
  OwnedPath,
  Project,
  ProjectId,
  RestorePlan,
  Snapshot,
} from '../../model/index.js'
import type { CaptureProgress } from '../capture/progress.js'
import type { Site } from '../capture/capture-target.js'
import type { ExamineRequest, ObjectReport } from '../repair/examine.js'
import type { MendRequest } from '../repair/repair-objects.js'
import type { Change } from '../compare/compare.js'
import type { SourceHistory } from '../import/source-history.js'
import type { SourceRequest } from '../import/sources.js'
import type { CommitFacts } from '../objects/commit.js'
import type { PatchRequest } from '../compare/patch.js'
import type { Captured } from '../capture/capture-types.js'
import type { Applied } from '../restore/apply.js'
import type { Aside } from '../restore/aside.js'
import type { LeftOut } from '../restore/rules-of-target.js'
import type { Activity } from '../watch/project-watch.js'
import type { Rewritten } from '../compare/remove-path.js'

export type CaptureData = {
  readonly home: string
  readonly durable: boolean
  /** Nothing was ever saved in the store. */
  readonly isNew: boolean
}

export type SnapshotsOptions = {
  /** The store's real path. */
  readonly home: string
  readonly durability: Durability
  /** As they are set for a project now. */
  readonly limitsOf: (project: Pick<Project, 'path'>) => CaptureLimits
  /** The caller has nothing else to do: no thread is needed to keep its event loop free. */
  readonly mayBlock: boolean
}

/** The caller knows the project; the thread is given its id and path. */
export type Unplaced<Request> = Omit<Request, 'project' | 'root'>

export type CaptureRequest = {
  readonly project: ProjectId
  readonly site: Site
  readonly held: readonly ObjectId[]
  /** Watch the project from now on, if it is not yet. */
  readonly watch: boolean
  /** A record is to follow: new objects, if they are few, are written with it, in one go. */
  readonly holdObjects: boolean
  /** Captured whatever the rules say. Not with `holdObjects`. */
  readonly named?: NamedPaths | undefined
}
/** See docs/internals/rewind-and-rules.md. */
export type NamedPaths = {
  /** All that this snapshot holds, at or on the way to `inside` if that is given. */
  readonly tree?: ObjectId | undefined
  readonly inside?: readonly BytePath[] | undefined
  readonly paths?: readonly BytePath[] | undefined
}
export type RecordRequest = {
  readonly facts: CommitFacts
  /** Count the changes since this snapshot, or since nothing; undefined: no count is wanted. */
  readonly since: { readonly tree: ObjectId | undefined } | undefined
}
export type Recorded = {
  readonly commit: ObjectId
  readonly changes: ChangeCounts | undefined
}
export type FingerprintRequest = {
  readonly snapshots: readonly ObjectId[]
  readonly paths: readonly BytePath[]
}

export type CompareRequest = {
  readonly before: ObjectId | undefined
  readonly after: ObjectId
  readonly countLines: boolean
}
export type RestoreTarget = {
  /** The capture just made. */
  readonly now: ObjectId
  readonly goal: ObjectId
  /** The paths that the target left out: they stay. Undefined where `only` names paths that a rewind itself changed. */
  readonly leftOut?: LeftOut | undefined
  /** Files and folders to restore; undefined for everything. */
  readonly paths: readonly BytePath[] | undefined
  /** Exactly these paths, as an undo needs. */
  readonly only: readonly BytePath[] | undefined
  /** None of these. */
  readonly leave?: readonly BytePath[] | undefined
}
export type ExpectRequest = {
  readonly site: Site
  readonly trees: readonly ObjectId[]
  readonly paths: readonly BytePath[]
}
export type PlanRequest = RestoreTarget & { readonly project: ProjectId; readonly site: Site }
export type ApplyRequest = {
  readonly project: ProjectId
  readonly root: BytePath
  readonly tag: string
  readonly plan: RestorePlan
  readonly sweep: readonly BytePath[]
  /** Recorded by the checkpoint to go to; undefined if it recorded none. */
  readonly ownersThen: readonly OwnedPath[] | undefined
}

/** The folder that a rewind is about, by the inode it had when the rewind began. */
type RewindRoot = {
  readonly project: ProjectId
  readonly root: BytePath
  readonly rootInode: string
}

export type SettleRequest = RewindRoot & {
  readonly asides: readonly Aside[]
  /** The snapshot that new contents are added to. */
  readonly base: ObjectId
}
export type SettleResult = {
  /** The asides that could not be removed yet. */
  readonly rest: readonly Aside[]
  /** A snapshot with the contents of some of them that no checkpoint holds, for the caller to record. */
  readonly saved: { readonly tree: ObjectId; readonly paths: readonly BytePath[] } | undefined
}
export type FindAsidesRequest = RewindRoot & {
  readonly tag: string
  readonly sweep: readonly BytePath[]
  /** For each path of the journal, the contents that are in a checkpoint. */
  readonly known: ReadonlyMap<BytePath, Aside['known']>
}

export type AdoptRequest = SourceRequest & { readonly project: ProjectId; readonly tree: ObjectId }

export type RewriteRequest = {
  readonly project: ProjectId
  /** Undefined: the snapshots stay as they are, and only the commits are written again. */
  readonly path: BytePath | undefined
  readonly checkpoints: readonly CommitFacts[]
}

export type CaptureCalls = {
  /** A capture of very many new files is likely: gets ready for it. */
  expectMany(nothing: undefined): void
  capture(request: CaptureRequest, report: (progress: CaptureProgress) => void): Promise<Captured>
  unwatch(project: ProjectId): void
  /** Forgets what is in memory of a project. Nobody may be at work on it: a plan is made of it. */
  letGo(project: ProjectId): Promise<void>
  /** Undefined of a project that is not watched. */
  activity(project: ProjectId): Activity | undefined
  /** The look in the background, now. */
  lookAtAll(project: ProjectId): Promise<void>
  record(request: RecordRequest): Promise<Recorded>
  compare(request: CompareRequest): Promise<readonly Change[]>
  /** For each snapshot a text that is the same for two of them only if nothing at or below the paths differs. */
  fingerprints(request: FingerprintRequest): Promise<readonly string[]>
  /** Throws for a path that is in none of the snapshots, nor in the folder. */
  expectSomewhere(request: ExpectRequest): Promise<void>
  plan(request: PlanRequest): Promise<RestorePlan>
  apply(request: ApplyRequest, report: (progress: CaptureProgress) => void): Promise<Applied>
  /** Removes the files that a rewind has moved aside: its last step. */
  settleAsides(request: SettleRequest): Promise<SettleResult>
  /** Files that an interrupted rewind moved aside. */
  findAsides(request: FindAsidesRequest): readonly Aside[]
  patch(request: PatchRequest): Promise<string>
  examine(
    request: ExamineRequest,
    report: (progress: CaptureProgress) => void,
  ): Promise<ObjectReport>
  /** Puts right one thing that `examine` has found. */
  mend(request: {
    readonly aside: string
    readonly what: MendRequest
  }): Promise<ObjectId | undefined>
  /** New snapshots and commits without a path, for the caller to refer to. */
  rewrite(request: RewriteRequest): Promise<readonly Rewritten[]>
  readHistory(request: SourceRequest & { readonly tip: ObjectId }): Promise<SourceHistory>
  adopt(request: AdoptRequest): Promise<Snapshot>
  closeSource(nothing: undefined): void
  writeCaches(nothing: undefined): void
  close(nothing: undefined): Promise<void>
}
