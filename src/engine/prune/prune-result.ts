// The result of a prune: its plan, and what it removed.
import {
  type Drop,
  type DropReason,
  type ErrorCode,
  type Guard,
  pathText,
} from '../../model/index.js'
import type { ProjectState } from '../projects/project-state.js'
import type { PrunePlan } from './prune-plan.js'
import type { LargeProject } from '../store/sizes.js'

export type PrunePointsView = {
  readonly drop: readonly Drop[]
  readonly keep: Readonly<Partial<Record<Guard | 'recent', number>>>
}

export type PruneProjectView = PrunePointsView & {
  readonly id: string
  readonly path: string
  readonly state: ProjectState
  /** Why it is unknown whether its folder was removed; such a project is kept. */
  readonly unreachable: string | null
  readonly freesBytes: number
  /** The last rewind can no longer be undone. */
  readonly forgetsUndo: boolean
}

type PrunePlanView = {
  readonly projects: readonly PruneProjectView[]
  /** Checkpoints of sessions that belong to no project. */
  readonly unattached: PrunePointsView
  readonly sessions: readonly { readonly id: string; readonly why: 'age' | 'orphan' | 'size' }[]
  readonly sizeBytes: number
  readonly capBytes: number
  readonly afterBytes: number
}

export type PruneResult = {
  readonly plan: PrunePlanView
  readonly applied: boolean
  /** How many projects were checked. */
  readonly scanned: number
  readonly deletedOrphan: number
  readonly deletedStale: number
  readonly deletedCheckpoints: number
  readonly deletedByReason: Readonly<Partial<Record<DropReason, number>>>
  /** Checkpoints that lost their files and kept the state that a session continues from. */
  readonly prunedFiles: number
  readonly deletedSessions: number
  readonly errors: readonly PruneError[]
  readonly bytesReclaimed: number
  /** Measured on disk. */
  readonly sizeBytes: number
  /** Null if the store is within its limit. */
  readonly above: {
    readonly byBytes: number
    readonly because: readonly string[]
    /** The largest owners of data that must stay. */
    readonly projects: readonly LargeProject[]
  } | null
}

type PruneError = {
  readonly what: string
  readonly code: ErrorCode
  readonly message: string
}

/** Counts what a prune removed. */
export class Tally {
  orphan = 0
  stale = 0
  files = 0
  sessions = 0
  readonly byReason = new Map<DropReason, number>()
  readonly errors: PruneError[] = []

  drop(why: DropReason): void {
    this.byReason.set(why, (this.byReason.get(why) ?? 0) + 1)
  }

  get checkpoints(): number {
    return [...this.byReason.values()].reduce((sum, count) => sum + count, 0)
  }

  fail(what: string, { code, message }: Pick<PruneError, 'code' | 'message'>): void {
    if (!this.errors.some((error) => error.what === what)) this.errors.push({ what, code, message })
  }
}

export function buildResult(
  plan: PrunePlan,
  tally: Tally,
  {
    applied,
    startBytes,
    sizeBytes,
  }: { readonly applied: boolean; readonly startBytes: number; readonly sizeBytes: number },
): PruneResult {
  const projects = plan.projects.map(({ summary: { project }, ...it }) => ({
    id: project.id,
    path: pathText(project.path),
    state: it.state,
    unreachable: it.unreachable,
    drop: it.drop,
    keep: it.keep,
    freesBytes: it.freesBytes,
    forgetsUndo: it.forgetsUndo,
  }))
  const { capBytes, afterBytes, largest, unattached } = plan
  const byBytes = (applied ? sizeBytes : afterBytes) - capBytes
  return {
    plan: {
      projects,
      unattached: { drop: unattached.drop, keep: unattached.keep },
      sessions: plan.sessions.map(({ session, why }) => ({ id: session.id, why })),
      sizeBytes: plan.sizeBytes,
      capBytes,
      afterBytes,
    },
    applied,
    scanned: projects.length,
    deletedOrphan: tally.orphan,
    deletedStale: tally.stale,
    deletedCheckpoints: tally.checkpoints,
    deletedByReason: Object.fromEntries(tally.byReason),
    prunedFiles: tally.files,
    deletedSessions: tally.sessions,
    errors: tally.errors,
    bytesReclaimed: applied ? Math.max(0, startBytes - sizeBytes) : 0,
    sizeBytes,
    above: byBytes > 0 ? { byBytes, because: listKeepReasons(plan), projects: largest } : null,
  }
}

/** Lists what the rules protect. */
function listKeepReasons({ projects }: PrunePlan): string[] {
  const count = (why: Guard) => projects.reduce((sum, { keep }) => sum + (keep[why] ?? 0), 0)
  const lines = [
    [count('pinned'), 'pinned'],
    [count('named'), 'named'],
    [count('session'), 'of sessions in progress'],
    [count('thread'), 'of graph threads'],
  ] as const
  const noun = (number: number) => (number === 1 ? 'checkpoint' : 'checkpoints')
  return [
    'the newest checkpoint of each project',
    ...lines.flatMap(([number, what]) =>
      number === 0 ? [] : `${number} ${noun(number)} (${what})`,
    ),
    'agent states',
  ]
}
