// The central nouns of the model: projects, snapshots, checkpoints and operations.
import type { Authors } from './restore/author.js'
import type { BytePath } from './byte-path.js'
import type { SkipCounts, SkipReason } from './entry.js'
import type { CheckpointId, ObjectId, OperationId, ProjectId, StateId } from './ids.js'
import type { SessionKey, Status } from './session.js'

export type Project = {
  readonly id: ProjectId
  /** The real path of the folder. */
  readonly path: BytePath
}

export type CheckpointKind =
  | 'save'
  | 'safety'
  | 'rewind'
  | 'undo'
  | 'redo'
  | 'recovery'
  | 'imported'

export type Skipped = {
  readonly path: BytePath
  readonly reason: SkipReason
  readonly sizeBytes: number | null
}

/** A git repository found in the project, as it was at the time of the capture. */
export type RepositoryNote = {
  readonly path: BytePath
  readonly commit: string | null
  readonly branch: string | null
}

/** The tree of a snapshot and its totals. */
export type SnapshotTotals = {
  readonly tree: ObjectId
  readonly fileCount: number
  readonly sizeBytes: number
  readonly skippedCounts: SkipCounts
}

/** The id of a conversation in the coding agent's own records. */
export type AgentConversation = { readonly agent: string; readonly session: string }

/** The rewind that made a safety checkpoint, or the checkpoint of its result. */
export type RewindNote = {
  readonly target: CheckpointId
  /** It wrote contents that are in no checkpoint: the result of a merge, or chosen lines. */
  readonly isMerge?: true
  /** If it took back steps: references to them, as `savestate undo` takes them. The target is the newest of the steps. */
  readonly undone?: readonly string[]
  /** The conversation that went back too; the agent continues a copy of it. */
  readonly conversation?: AgentConversation
  /**
   * Only with the result: paths that differ from the safety checkpoint for another reason than the rewind. A folder includes
   * everything in it. See docs/internals/rewind-and-rules.md.
   */
  readonly bystanders?: readonly BytePath[]
}

/** An entry that no checkpoint contains and that a tool call changed. */
export type UncapturedChange = {
  readonly path: BytePath
  readonly reason: SkipReason
  readonly isFolder: boolean
  readonly change: 'added' | 'changed' | 'removed'
}

/** `by`: the calls, in the words of the checkpoint's reason. */
export type UncapturedChanges = {
  readonly by: string
  readonly changes: readonly UncapturedChange[]
}

/** The capture rules that are not in the snapshot itself. Texts come from ignore files, one character per byte. */
export type EffectiveRules = {
  readonly ignoreCase: boolean
  readonly defaults: readonly string[]
  readonly secretNames: readonly string[]
  readonly allowSecrets: readonly string[]
  /** The text of the project's `.savestateignore`, if the user trusted it: only then may it allow secrets. */
  readonly trustedIgnore?: string | undefined
  /** Ignore files above the project, lowest precedence first; `prefix` leads from their folder to the project. */
  readonly above: readonly { readonly text: string; readonly prefix: BytePath }[]
  /** The `info/exclude` of each repository in the project. */
  readonly excludes: readonly { readonly text: string; readonly path: BytePath }[]
}

export type Owner = { readonly uid: number; readonly gid: number }

/** A path whose owner differs from that of its folder; the project's folder is always listed, as ''. */
export type OwnedPath = Owner & { readonly path: BytePath }

export type SnapshotDetails = {
  readonly uncaptured?: UncapturedChanges | undefined
  /** At most MAX_SKIPPED_PATHS, the ones that users may miss first. */
  readonly skippedPaths: readonly Skipped[]
  readonly repositories: readonly RepositoryNote[]
  /** Undefined for imported checkpoints, and for those of versions that did not record rules. */
  readonly rules?: EffectiveRules | undefined
  readonly rewind?: RewindNote | undefined
  /** Undefined for imported checkpoints, and for those of versions that did not record owners. */
  readonly owners?: readonly OwnedPath[] | undefined
}

export type Snapshot = SnapshotTotals & SnapshotDetails

/** How a snapshot differs from the one before it. */
export type ChangeCounts = {
  readonly files: number
  readonly insertions: number
  readonly deletions: number
}

type CommonFields = {
  readonly id: CheckpointId
  readonly kind: CheckpointKind
  readonly name: string | null
  readonly reason: string | null
  readonly createdAtMs: number
  readonly pinned: boolean
  /** The authors of the changes since the checkpoint before. Null: not known, or it has no files. */
  readonly authors: Authors
  /** Null for a checkpoint of a project alone. */
  readonly session: SessionPosition | null
}

export type FilesCheckpoint = CommonFields & {
  readonly project: ProjectId
  readonly commit: ObjectId
  readonly snapshot: SnapshotTotals
  readonly changes: ChangeCounts
}

/** A checkpoint with a state only. Its session may still belong to a project. */
export type StateCheckpoint = CommonFields & {
  readonly project: ProjectId | null
  readonly commit: null
  readonly snapshot: null
  readonly changes: null
  readonly session: SessionPosition
  /** A prune removed its files. */
  readonly filesPruned?: true
}

export type Checkpoint = FilesCheckpoint | StateCheckpoint

/** The position of a checkpoint in its session. */
export type SessionPosition = {
  readonly key: SessionKey
  readonly id: string
  readonly agent: string | null
  /** The checkpoint before it. After a rewind this is not the one with the previous step. */
  readonly parent: CheckpointId | null
  readonly step: number
  readonly status: Status
  readonly turn: number
  readonly toolCall: string | null
  readonly state: StateId | null
  /** The version of the caller's own state, for its migrations. */
  readonly schemaVersion: number | null
  readonly metadata: unknown
  /** The caller's id for the save. Two saves with the same id make one checkpoint. */
  readonly operationId: string | null
}

export type CheckpointBrief = Omit<CommonFields, 'session'> & {
  readonly project: ProjectId | null
  readonly sessionId: string | null
  readonly agent: string | null
  readonly turn: number | null
  readonly step: number | null
  readonly status: Status | null
  readonly hasState: boolean
  readonly hasFiles: boolean
  readonly filesPruned: boolean
  readonly changes: ChangeCounts | null
  readonly skippedCounts: SkipCounts
  readonly moment: CheckpointMoment | null
  /** The tool call that it names failed, as far as the agent reported it. */
  readonly failed: boolean
  readonly tests: TestResult | null
}

/** The result of test commands that a checkpoint names, as far as the agent reported their exit status. */
export type TestResult = 'passed' | 'failed'

export function briefOf(checkpoint: Checkpoint): CheckpointBrief {
  const { id, kind, name, reason, createdAtMs, pinned, authors } = checkpoint
  const { project, session, snapshot, changes } = checkpoint
  return {
    id,
    kind,
    name,
    reason,
    createdAtMs,
    pinned,
    authors,
    project,
    sessionId: session?.id ?? null,
    agent: session?.agent ?? null,
    turn: session?.turn ?? null,
    step: session?.step ?? null,
    status: session?.status ?? null,
    hasState: session !== null && session.state !== null,
    hasFiles: snapshot !== null,
    filesPruned: 'filesPruned' in checkpoint,
    changes,
    skippedCounts: snapshot?.skippedCounts ?? {},
    moment: readCheckpointMoment(session?.metadata),
    failed: readFailed(session?.metadata),
    tests: readTests(session?.metadata),
  }
}

/** `before`: made before the prompt or call it names. `after`: made after the calls it names. */
export type CheckpointMoment = 'before' | 'after'

// The hooks write the event and the calls into the metadata (see docs/guide/coding-agents.md); checkpoints of other callers
// have no moment.
const BEFORE: readonly unknown[] = ['turn-start', 'before-tool']
const AFTER: readonly unknown[] = ['after-tool', 'turn-end', 'session-end']

/** From the keys of an agent's metadata that decide it. */
export function checkpointMoment({
  agentSession,
  at,
  hasCalls,
}: {
  readonly agentSession: unknown
  readonly at: unknown
  readonly hasCalls: boolean
}): CheckpointMoment | null {
  if (typeof agentSession !== 'string') return null
  // A save at the start of a call is named by the calls since the last save, if there were any.
  if (hasCalls || AFTER.includes(at)) return 'after'
  return BEFORE.includes(at) ? 'before' : null
}

/** Null also for metadata that is sealed with a key that was not given. */
export function readCheckpointMoment(metadata: unknown): CheckpointMoment | null {
  if (typeof metadata !== 'object' || metadata === null) return null
  const field = (key: string): unknown => Reflect.get(metadata, key)
  return checkpointMoment({
    agentSession: field('agentSession'),
    at: field('at'),
    hasCalls: Array.isArray(field('calls')),
  })
}

export function hasFiles(checkpoint: Checkpoint): checkpoint is FilesCheckpoint {
  return checkpoint.snapshot !== null
}

export type OperationKind = 'rewind' | 'undo' | 'redo'

export type Operation = {
  readonly id: OperationId
  readonly project: ProjectId
  readonly kind: OperationKind
  readonly atMs: number
  /** The folder before. */
  readonly safety: CheckpointId
  /** The folder after. */
  readonly result: CheckpointId
  /** The rewind that an undo reverted or a redo repeated. */
  readonly of: OperationId | null
}

export const MAX_SKIPPED_PATHS = 1000

/** Whether the hooks of an agent recorded a failed call in this metadata. */
export function readFailed(metadata: unknown): boolean {
  return readMark(metadata, 'failed') === true
}

/** The result of tests that they recorded. */
export function readTests(metadata: unknown): TestResult | null {
  return testResult(readMark(metadata, 'tests'))
}

export function testResult(mark: unknown): TestResult | null {
  return mark === 'passed' || mark === 'failed' ? mark : null
}

function readMark(metadata: unknown, key: string): unknown {
  if (typeof metadata !== 'object' || metadata === null) return undefined
  const isOfAgent = typeof Reflect.get(metadata, 'agentSession') === 'string'
  return isOfAgent ? Reflect.get(metadata, key) : undefined
}
