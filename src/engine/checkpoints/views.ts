// The values that callers and `--json` get: plain objects, text for paths, dates (ISO times in UTC in JSON).
import {
  authorText,
  briefOf,
  type BytePath,
  type Checkpoint,
  type CheckpointBrief,
  type CheckpointKind,
  type CheckpointMoment,
  type Entry,
  type Left,
  pathText,
  type RestorePlan,
  sameEntry,
  type StatusText,
  statusText,
  type TestResult,
  type SkipCounts,
  type SkipReason,
  type UncapturedChange,
} from '../../model/index.js'
import type { Change } from '../../snapshot/index.js'

export type CheckpointView = {
  readonly id: string
  readonly name: string | null
  readonly reason: string | null
  readonly createdAt: Date
  readonly session: string | null
  /** The name of the session's agent. */
  readonly sessionAgent: string | null
  /** Counts the prompts of the session. A prompt and its tool calls have the same turn. */
  readonly turn: number | null
  readonly step: number | null
  /** The status of the session at this checkpoint; null outside of a session. */
  readonly status: StatusText | null
  /** Files that differ from the previous checkpoint. */
  readonly files: number
  readonly insertions: number
  readonly deletions: number
  /** How many paths were skipped, in total and by reason. */
  readonly skipped: number
  readonly skippedByReason: SkipCounts
  readonly hasState: boolean
  readonly hasFiles: boolean
  readonly pinned: boolean
  readonly kind: CheckpointKind
  /**
   * For a checkpoint of a coding agent: made `before` the prompt or call that its reason names, or `after` it. Null for
   * all others, and where the metadata is encrypted.
   */
  readonly moment: CheckpointMoment | null
  /**
   * The author of the changes since the previous checkpoint: `you`, the name of an agent or of a command, `rewind`, or
   * several of them joined by `+`. Null if nothing changed, or the author is unknown.
   */
  readonly author: string | null
  /** Present if a tool call that it names failed, as far as the coding agent reported it. */
  readonly failed?: true
  /** Present if it names test commands of a coding agent whose exit status the agent reported. */
  readonly tests?: TestResult
  /** Present if a prune removed the files and kept the state. */
  readonly filesPruned?: true
  /** Present if the store has lost a part of it: see docs/guide/repair.md. */
  readonly damaged?: true
}

/** The target of a rewind. `number`: its number in the project's list before the rewind; null without a project. */
export type TargetView = CheckpointView & { readonly number: number | null }

export type CheckpointDetails = CheckpointView & {
  readonly fileCount: number
  readonly sizeBytes: number
  /** Null if no files were saved. */
  readonly tree: string | null
  readonly commit: string | null
  readonly ref: string | null
  readonly skippedPaths: readonly {
    readonly path: string
    readonly reason: SkipReason
    readonly sizeBytes: number | null
  }[]
  readonly repositories: readonly {
    readonly path: string
    readonly commit: string | null
    readonly branch: string | null
  }[]
  readonly changes: readonly ChangeView[]
  /** Entries that its tool calls changed although no checkpoint contains them. */
  readonly uncaptured: readonly UncapturedView[]
  /** Null for a checkpoint outside a session. */
  readonly agent: AgentDetails | null
}

/** The kind and length of a state, and of the value of each of its keys. */
export type StateSummary = {
  readonly kind: string
  readonly length: number | null
  readonly keys: readonly {
    readonly key: string
    readonly kind: string
    readonly length: number | null
  }[]
}

export type ToolView = {
  readonly id: string
  readonly name: string
  readonly status: string
  readonly idempotencyKey: string
  readonly step: number
  readonly startedAt: Date
}

export type AgentDetails = {
  readonly parent: string | null
  readonly turn: number
  readonly toolCall: string | null
  readonly schemaVersion: number | null
  readonly metadata: unknown
  readonly state: StateSummary | null
  /**
   * Used under the prompt of this turn so far, as far as the agent's transcript has them and a checkpoint has copied it.
   * `input` includes `cached`, the tokens that the model read from its cache.
   */
  readonly tokens: {
    readonly input: number
    readonly output: number
    readonly cached: number
  } | null
  /** The cost in the transcript; null if it has none. */
  readonly costUsd: number | null
  /** The newest calls up to this checkpoint. */
  readonly tools: readonly ToolView[]
}

type UncapturedView = Omit<UncapturedChange, 'path'> & { readonly path: string }

export type ChangeView = {
  readonly path: string
  readonly change: 'added' | 'removed' | 'modified' | 'type' | 'mode'
  readonly type: Entry['type']
  /** Null for folders and binary content. */
  readonly insertions: number | null
  readonly deletions: number | null
  /** Octal; null for links and missing entries. */
  readonly modeBefore: string | null
  readonly modeAfter: string | null
}

export type PlanItem = {
  readonly path: string
  readonly reason?: string
  readonly type?: Entry['type']
  /** How the folder changes at this path. */
  readonly change?: ChangeView['change']
}
export type PlanView = {
  readonly write: readonly PlanItem[]
  readonly remove: readonly PlanItem[]
  readonly keep: readonly PlanItem[]
  readonly conflict: readonly PlanItem[]
}

const NO_CHANGES = { files: 0, insertions: 0, deletions: 0 }

export function viewCheckpoint(checkpoint: Checkpoint): CheckpointView {
  return viewBrief(briefOf(checkpoint))
}

export function viewBrief(brief: CheckpointBrief): CheckpointView {
  const { id, name, reason, kind, pinned, createdAtMs, changes } = brief
  const { skippedCounts: skippedByReason, status } = brief
  const { files, insertions, deletions } = changes ?? NO_CHANGES
  return {
    id,
    name,
    reason,
    createdAt: new Date(createdAtMs),
    session: brief.sessionId,
    sessionAgent: brief.agent,
    turn: brief.turn,
    step: brief.step,
    status: status === null ? null : statusText(status),
    files,
    insertions,
    deletions,
    skipped:
      changes === null ? 0 : Object.values(skippedByReason).reduce((sum, count) => sum + count, 0),
    skippedByReason,
    hasState: brief.hasState,
    hasFiles: brief.hasFiles,
    pinned,
    kind,
    moment: brief.moment,
    author: authorText(brief.authors),
    ...(brief.failed ? { failed: true } : {}),
    ...(brief.tests === null ? {} : { tests: brief.tests }),
    ...(brief.filesPruned ? { filesPruned: true } : {}),
  }
}

export function viewChange({ path, before, after, insertions, deletions }: Change): ChangeView {
  return {
    path: pathText(path),
    change: classifyChange(before, after),
    type: (after ?? before)?.type ?? 'file',
    insertions: insertions ?? null,
    deletions: deletions ?? null,
    modeBefore: entryMode(before),
    modeAfter: entryMode(after),
  }
}

/** `reasons`: for the paths that the plan writes, where there is a better one than the difference. */
export function viewPlan(
  plan: RestorePlan,
  reasons: ReadonlyMap<BytePath, string> = new Map(),
): PlanView {
  const viewLeft = ({ path, reason }: Left) => ({ path: pathText(path), reason })
  return {
    write: plan.write.filter(isVisible).map(({ path, from, to }) => ({
      path: pathText(path),
      reason: reasons.get(path) ?? explainWrite(from, to),
      type: to.type,
      change: classifyChange(from, to),
    })),
    remove: plan.remove.map(({ path, from }) => ({
      path: pathText(path),
      reason: `${from.type} created later`,
      type: from.type,
      change: 'removed',
    })),
    keep: plan.keep.map(viewLeft),
    conflict: plan.conflict.map(viewLeft),
  }
}

/** Hides an unwritable folder that the restore opens and closes again. */
function isVisible({ from, to }: RestorePlan['write'][number]): boolean {
  return from === undefined || !sameEntry(from, to)
}

function classifyChange(before: Entry | undefined, after: Entry | undefined): ChangeView['change'] {
  if (before === undefined) return 'added'
  if (after === undefined) return 'removed'
  if (before.type !== after.type) return 'type'
  if (before.type === 'folder') return 'mode'
  const isSameContent = after.type !== 'folder' && before.blob === after.blob
  return isSameContent ? 'mode' : 'modified'
}

function explainWrite(from: Entry | undefined, to: Entry): string {
  const change = classifyChange(from, to)
  if (change === 'added') return `${to.type} is missing`
  if (change === 'type') return `is a ${from?.type}, was a ${to.type}`
  return change === 'mode'
    ? `mode is ${entryMode(from ?? to)}, was ${entryMode(to)}`
    : 'content differs'
}

function entryMode(entry: Entry | undefined): string | null {
  return entry === undefined || entry.type === 'link' ? null : formatMode(entry.mode)
}

/** Octal, as in `0644`. */
export function formatMode(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}
