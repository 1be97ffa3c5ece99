// Keeps the store within its limits: plan, do, measure; again if it is still too large.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod/mini'
import {
  type CheckpointId,
  type Drop,
  type ErrorCode,
  type Guard,
  pathText,
  SavestateError,
  type Session,
  type SessionKey,
} from '../model/index.js'
import type { PruningFacts } from '../ledger/index.js'
import { removeRefs } from '../snapshot/index.js'
import { diskUsage, failpoint } from '../system/index.js'
import { collect } from './collect.js'
import { ifProjectIsFree, type StoreContext } from './context.js'
import type { Hooks } from './hooks.js'
import { Journals } from './journal.js'
import { storeOperation } from './operation.js'
import { type ProjectState, projectStateOf } from './project-state.js'
import { planPrune, type ProjectPlan, type PrunePlan } from './prune-plan.js'
import { recoverAll } from './recover.js'
import { deleteSession } from './sessions.js'

export type PruneResult = {
  readonly plan: {
    readonly projects: readonly {
      readonly id: string
      readonly path: string
      readonly state: ProjectState
      /** Why its folder is neither there nor surely gone; such a project is kept. */
      readonly unreachable: string | null
      readonly drop: readonly Drop[]
      readonly keep: Readonly<Partial<Record<Guard | 'recent', number>>>
      readonly freesBytes: number
    }[]
    readonly sessions: readonly { readonly id: string; readonly why: 'age' | 'size' }[]
    readonly sizeBytes: number
    readonly capBytes: number
    readonly afterBytes: number
  }
  readonly applied: boolean
  /** Projects that were looked at. */
  readonly scanned: number
  readonly deletedOrphan: number
  readonly deletedStale: number
  readonly deletedCheckpoints: number
  readonly deletedSessions: number
  readonly errors: readonly PruneError[]
  readonly bytesReclaimed: number
  /** Measured on disk. */
  readonly sizeBytes: number
  /** What keeps the store above its limit; null if nothing does. */
  readonly above: { readonly byBytes: number; readonly because: readonly string[] } | null
}

export type PruneError = {
  readonly what: string
  readonly code: ErrorCode
  readonly message: string
}

const MAX_ROUNDS = 4

export const prune = storeOperation({
  name: 'prune',
  summary: 'Remove what the limits no longer allow',
  effect: 'changes-store',
  input: () =>
    z.strictObject({
      dryRun: z._default(z.boolean(), false),
      retentionDays: z.optional(z.number().check(z.nonnegative())),
      maxSizeMb: z.optional(z.number().check(z.nonnegative())),
      maxCheckpoints: z.optional(z.int().check(z.positive())),
      keepOrphans: z.optional(z.boolean()),
      unattended: z.optional(z.boolean()),
    }),
  async run(context, { dryRun, ...input }, hooks): Promise<PruneResult> {
    await recoverAll(context, hooks)
    const first = await planned(context, input)
    const tally = new Tally()
    for (const { project, fault } of first.projects)
      if (fault !== null) tally.fail(pathText(project.path), fault)
    const shown = resultOf(first, tally, { applied: false, sizeBytes: first.sizeBytes })
    if (dryRun || !(await isAgreed(first, shown, hooks))) return shown
    const rounds = [first]
    let plan = first
    let sizeBytes = first.sizeBytes
    for (;;) {
      await apply(context, plan, tally)
      failpoint('prune:rows-removed')
      const { isComplete } = await collect(context, { thorough: first.sizeBytes > first.capBytes })
      sizeBytes = await diskUsage(context.home)
      if (!isComplete)
        tally.fail('store', {
          code: 'STORE_BUSY',
          message: 'others were at work; the rest is done next time',
        })
      const isEnough = sizeBytes <= plan.capBytes || !isComplete || rounds.length === MAX_ROUNDS
      if (isEnough) break
      plan = await planned(context, input, rounds)
      if (!hasWork(plan)) break
      rounds.push(plan)
    }
    context.ledger.care.setFact('pruned-at', String(context.clock.nowMs()))
    return resultOf(first, tally, { applied: true, sizeBytes })
  },
})

/** What is agreed to is what is done: the plan that was shown, and not one made after the answer. */
async function isAgreed(plan: PrunePlan, shown: PruneResult, hooks: Hooks): Promise<boolean> {
  return !hasWork(plan) || hooks.confirmPrune === undefined || hooks.confirmPrune(shown)
}

class Tally {
  orphan = 0
  stale = 0
  checkpoints = 0
  sessions = 0
  readonly errors: PruneError[] = []

  fail(what: string, { code, message }: Pick<PruneError, 'code' | 'message'>): void {
    if (!this.errors.some((error) => error.what === what)) this.errors.push({ what, code, message })
  }
}

/** Held like a save: another prune's collection must not take away what is being measured. */
function planned(...given: Parameters<typeof planPrune>): Promise<PrunePlan> {
  const [context] = given
  return context.objects.shared(() => planPrune(...given))
}

async function apply(context: StoreContext, plan: PrunePlan, tally: Tally): Promise<void> {
  const known = new Map(plan.projects.flatMap((project) => [...project.known]))
  for (const { session } of plan.sessions) {
    try {
      const isDue = isAsPlanned(context, session, known)
      if (deleteSession(context, session.id, { isDue }).isDeleted) tally.sessions += 1
    } catch (error) {
      if (!(error instanceof SavestateError)) throw error
      tally.fail(`session ${session.id}`, error)
    }
  }
  const ends = new Set(plan.sessions.map(({ session }) => session.key))
  for (const project of plan.projects) {
    if (project.drop.length === 0 && !project.isWhole) continue
    let why: string | undefined = 'it is in use'
    await ifProjectIsFree(context, project.project, {
      purpose: 'prune',
      work: async () => {
        why = await applyTo(context, project, { ends, tally })
      },
    })
    if (why !== undefined)
      tally.fail(pathText(project.project.path), {
        code: 'PROJECT_BUSY',
        message: `${why}; left for the next time`,
      })
  }
}

/**
 * Somebody may have gone on with it since, or pinned a checkpoint of it, or named one that has files. Asked in the
 * transaction that deletes it.
 */
function isAsPlanned(
  { ledger }: StoreContext,
  planned: Session,
  known: ProjectPlan['known'],
): (session: Session) => boolean {
  return ({ key, updatedAtMs }) =>
    key === planned.key &&
    updatedAtMs === planned.updatedAtMs &&
    ledger.checkpoints
      .list({ session: key })
      .every(({ id, pinned, name }) => !pinned && (known.get(id) ?? { name }).name === name)
}

/** Why it was not done, if it was not. The rows first: a ref without a row is garbage, a row without a ref is damage (I1, I2). */
async function applyTo(
  { home, ledger, snapshots }: StoreContext,
  plan: ProjectPlan,
  { ends, tally }: { readonly ends: ReadonlySet<SessionKey>; readonly tally: Tally },
): Promise<string | undefined> {
  const { project, drop, isWhole, isOrphaned, known } = plan
  if (new Journals(home).pending().includes(project.id)) return 'a rewind of it is unfinished'
  const done = ledger.transaction(() => {
    if (isUsedSince(ledger, plan)) return undefined
    const now = new Map(ledger.pruning.checkpointsOf(project.id).map((it) => [it.id, it]))
    // Not what was to go with a session that is still there.
    const isStill = (id: CheckpointId) => {
      const point = now.get(id)
      if (point === undefined) return true
      const isOfSession = point.session !== null && ends.has(point.session.key)
      return isSame(point, known.get(id)) && !isOfSession
    }
    const still = drop.map(({ id }) => id).filter(isStill)
    ledger.pruning.drop(still)
    return { ids: still, isForgotten: isWhole && ledger.pruning.forgetProject(project.id) }
  })
  if (done === undefined) return 'it was used meanwhile'
  const { ids, isForgotten } = done
  failpoint('prune:project-rows-removed')
  await removeRefs(
    snapshots.gitDir,
    ids.map((id) => snapshots.refOf(project, id)),
  )
  tally.checkpoints += ids.length
  if (isForgotten) {
    rmSync(join(home, 'cache', project.id), { force: true })
    if (isOrphaned) tally.orphan += 1
    else tally.stale += 1
  }
  return undefined
}

/** Not if it has been pinned or named since, or somebody has gone on with its session. */
function isSame(point: PruningFacts, planned: PruningFacts | undefined): boolean {
  return (
    !point.pinned &&
    point.name === planned?.name &&
    point.isOfThread === planned.isOfThread &&
    point.session?.updatedAtMs === planned.session?.updatedAtMs
  )
}

/** A save that found nothing new has said that all is saved; a folder may have come back. */
function isUsedSince({ pruning }: StoreContext['ledger'], plan: ProjectPlan): boolean {
  const { project, isPast, isOrphaned, summary } = plan
  if (!isPast) return false
  if (pruning.touchedAtMs(project.id) !== summary.touchedAtMs) return true
  return isOrphaned && projectStateOf(project.path, summary) !== 'orphan'
}

function hasWork({ projects, sessions }: PrunePlan): boolean {
  return sessions.length > 0 || projects.some(({ drop }) => drop.length > 0)
}

function resultOf(
  plan: PrunePlan,
  tally: Tally,
  { applied, sizeBytes }: { readonly applied: boolean; readonly sizeBytes: number },
): PruneResult {
  const projects = plan.projects.map(({ project, state, unreachable, drop, keep, freesBytes }) => ({
    id: project.id,
    path: pathText(project.path),
    state,
    unreachable,
    drop,
    keep: Object.fromEntries(keep),
    freesBytes,
  }))
  const sessions = plan.sessions.map(({ session, why }) => ({ id: session.id, why }))
  const expected = applied ? sizeBytes : plan.afterBytes
  const byBytes = expected - plan.capBytes
  return {
    plan: {
      projects,
      sessions,
      sizeBytes: plan.sizeBytes,
      capBytes: plan.capBytes,
      afterBytes: plan.afterBytes,
    },
    applied,
    scanned: projects.length,
    deletedOrphan: tally.orphan,
    deletedStale: tally.stale,
    deletedCheckpoints: tally.checkpoints,
    deletedSessions: tally.sessions,
    errors: tally.errors,
    bytesReclaimed: applied ? Math.max(0, plan.sizeBytes - sizeBytes) : 0,
    sizeBytes,
    above: byBytes > 0 ? { byBytes, because: reasons(plan) } : null,
  }
}

/** What the rules do not allow to be removed. */
function reasons({ projects }: PrunePlan): string[] {
  const counts = new Map<string, number>()
  for (const { keep } of projects)
    for (const [why, count] of keep) counts.set(why, (counts.get(why) ?? 0) + count)
  const count = (why: Guard | 'recent') => counts.get(why) ?? 0
  const lines = [
    [count('pinned'), 'pinned'],
    [count('named'), 'named'],
    [count('session'), 'of unfinished sessions'],
    [count('thread'), 'of graph threads'],
    [count('recent'), 'the last of their projects'],
  ] as const
  const noun = (number: number) => (number === 1 ? 'checkpoint' : 'checkpoints')
  return [
    ...lines.flatMap(([number, what]) =>
      number === 0 ? [] : `${number} ${noun(number)} (${what})`,
    ),
    'the ledger with the states of sessions that are kept',
  ]
}
