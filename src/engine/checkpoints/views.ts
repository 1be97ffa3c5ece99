// What callers and `--json` see: plain values, text for paths, dates (ISO times in UTC in JSON).
import {
  authorText,
  briefOf,
  type Checkpoint,
  type CheckpointBrief,
  type CheckpointKind,
  type CheckpointMoment,
  type Entry,
  pathText,
  type RestorePlan,
  sameEntry,
  type StatusText,
  statusText,
  type SkipCounts,
  type SkipReason,
  type SnapshotDetails,
  type UncapturedChange,
} from '../../model/index.js'
import type { Change } from '../../snapshot/index.js'
import type { AgentDetails } from './agent-details.js'

export type CheckpointView = {
  readonly id: string
  readonly name: string | null
  readonly reason: string | null
  readonly createdAt: Date
  readonly session: string | null
  /** The name of the session's agent. */
  readonly sessionAgent: string | null
  /** Counts the prompts of the session: the row of a prompt and those of its tool calls have the same. */
  readonly turn: number | null
  readonly step: number | null
  /** Of the session at this checkpoint; null outside of a session. */
  readonly status: StatusText | null
  /** Files that differ from the checkpoint before. */
  readonly files: number
  readonly insertions: number
  readonly deletions: number
  /** How many paths were left out, in all and by reason. */
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
   * Who has changed the files since the checkpoint before: `you`, the name of an agent or of a command, `rewind`, or
   * several of them joined by `+`. Null if nothing changed, or the author is unknown.
   */
  readonly author: string | null
  /** Only of one whose files a prune removed; its state is kept. */
  readonly filesPruned?: true
  /** Only of one that the store has lost something of: see docs/repair.md. */
  readonly damaged?: true
}

/** The target of a rewind. `number`: its place in the project's list before the rewind; null outside of a project. */
export type TargetView = CheckpointView & { readonly number: number | null }

export type CheckpointDetails = CheckpointView & {
  /** All files it holds, and their bytes. */
  readonly fileCount: number
  readonly sizeBytes: number
  /** Null where no files were saved. */
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
  /** Entries that the calls it names changed though no checkpoint holds them. */
  readonly uncaptured: readonly UncapturedView[]
  /** Null for a checkpoint of a project alone. */
  readonly agent: AgentDetails | null
}

export type UncapturedView = Omit<UncapturedChange, 'path'> & { readonly path: string }

export type ChangeView = {
  readonly path: string
  readonly change: 'added' | 'removed' | 'modified' | 'type' | 'mode'
  readonly type: Entry['type']
  /** Null for folders and binary content. */
  readonly insertions: number | null
  readonly deletions: number | null
  /** Octal, where there is one. */
  readonly modeBefore: string | null
  readonly modeAfter: string | null
}

export type PlanItem = {
  readonly path: string
  readonly reason?: string
  /** What is written or removed. */
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
    skipped: changes === null ? 0 : sumOf(Object.values(skippedByReason)),
    skippedByReason,
    hasState: brief.hasState,
    hasFiles: brief.hasFiles,
    pinned,
    kind,
    moment: brief.moment,
    author: authorText(brief.authors),
    ...(brief.filesPruned ? { filesPruned: true } : {}),
  }
}

function sumOf(counts: readonly number[]): number {
  return counts.reduce((sum, count) => sum + count, 0)
}

export function viewDetails(
  checkpoint: Checkpoint,
  rest: {
    readonly details: SnapshotDetails | undefined
    readonly ref: string | null
    readonly changes: readonly Change[]
    readonly agent: AgentDetails | null
  },
): CheckpointDetails {
  const { snapshot, commit } = checkpoint
  return {
    ...viewCheckpoint(checkpoint),
    fileCount: snapshot?.fileCount ?? 0,
    sizeBytes: snapshot?.sizeBytes ?? 0,
    tree: snapshot?.tree ?? null,
    commit,
    agent: rest.agent,
    ref: rest.ref,
    skippedPaths: (rest.details?.skippedPaths ?? []).map((skipped) => ({
      ...skipped,
      path: pathText(skipped.path),
    })),
    repositories: (rest.details?.repositories ?? []).map((note) => ({
      ...note,
      path: pathText(note.path),
    })),
    changes: rest.changes.map(viewChange),
    uncaptured: (rest.details?.uncaptured?.changes ?? []).map((one) => ({
      ...one,
      path: pathText(one.path),
    })),
  }
}

export function viewChange({ path, before, after, insertions, deletions }: Change): ChangeView {
  return {
    path: pathText(path),
    change: changeOf(before, after),
    type: (after ?? before)?.type ?? 'file',
    insertions: insertions ?? null,
    deletions: deletions ?? null,
    modeBefore: octal(before),
    modeAfter: octal(after),
  }
}

export function viewPlan(plan: RestorePlan): PlanView {
  const left = ({
    path,
    reason,
  }: {
    path: RestorePlan['keep'][number]['path']
    reason: string
  }) => ({
    path: pathText(path),
    reason,
  })
  return {
    write: plan.write.filter(isVisible).map(({ path, from, to }) => ({
      path: pathText(path),
      reason: writeReason(from, to),
      type: to.type,
      change: changeOf(from, to),
    })),
    remove: plan.remove.map(({ path, from }) => ({
      path: pathText(path),
      reason: `${from.type} created later`,
      type: from.type,
      change: 'removed',
    })),
    keep: plan.keep.map(left),
    conflict: plan.conflict.map(left),
  }
}

/** A closed folder that is only opened for the work ends as it was. */
function isVisible({ from, to }: RestorePlan['write'][number]): boolean {
  return from === undefined || !sameEntry(from, to)
}

function changeOf(before: Entry | undefined, after: Entry | undefined): ChangeView['change'] {
  if (before === undefined) return 'added'
  if (after === undefined) return 'removed'
  if (before.type !== after.type) return 'type'
  if (before.type === 'folder') return 'mode'
  const isSameContent = after.type !== 'folder' && before.blob === after.blob
  return isSameContent ? 'mode' : 'modified'
}

function writeReason(from: Entry | undefined, to: Entry): string {
  const change = changeOf(from, to)
  if (change === 'added') return `${to.type} is missing`
  if (change === 'type') return `is a ${from?.type}, was a ${to.type}`
  return change === 'mode' ? `mode is ${octal(from ?? to)}, was ${octal(to)}` : 'content differs'
}

function octal(entry: Entry | undefined): string | null {
  return entry === undefined || entry.type === 'link'
    ? null
    : entry.mode.toString(8).padStart(4, '0')
}
