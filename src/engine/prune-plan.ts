// What a prune would remove, and why. Reads, and changes nothing (I7).
import {
  type BytePath,
  type CheckpointId,
  type Config,
  type Drop,
  dropByRules,
  fewest,
  type Guard,
  isTooOld,
  orderForSize,
  type Project,
  type Session,
} from '../model/index.js'
import type { ProjectSummary, PruningFacts } from '../ledger/index.js'
import type { StoreContext } from './context.js'
import { isHeld } from './open-session.js'
import { type ProjectState, projectStateOf } from './project-state.js'
import { StoreSizes } from './store-sizes.js'
import { projectSettings, storeSettings } from './settings.js'

export type PruneInput = {
  readonly retentionDays?: number | undefined
  readonly maxSizeMb?: number | undefined
  readonly maxCheckpoints?: number | undefined
  readonly keepOrphans?: boolean | undefined
  /** Nobody has seen the plan: nothing is dropped because its folder is gone. */
  readonly unattended?: boolean | undefined
}

export type ProjectPlan = {
  readonly project: Project
  readonly state: ProjectState
  readonly drop: readonly Drop[]
  readonly keep: ReadonlyMap<Guard | 'recent', number>
  readonly freesBytes: number
  /** All that it has goes: it is forgotten. */
  readonly isWhole: boolean
}

export type PrunePlan = {
  readonly projects: readonly ProjectPlan[]
  readonly sessions: readonly { readonly session: Session; readonly why: 'age' | 'size' }[]
  readonly sizeBytes: number
  readonly capBytes: number
  /** What the store will take, as far as can be told before. */
  readonly afterBytes: number
}

const DAY_MS = 86_400_000
/** As disks are sold, and as we print sizes. */
const MB = 1_000_000

type Facts = {
  readonly summary: ProjectSummary
  readonly state: ProjectState
  readonly points: readonly (PruningFacts & { readonly guard: Guard | null })[]
  readonly config: Config
}

/** `lowerBy`: an earlier round has left the store that much too large. */
export async function planPrune(
  context: StoreContext,
  input: PruneInput,
  { lowerBy }: { readonly lowerBy: number } = { lowerBy: 0 },
): Promise<PrunePlan> {
  const { home, ledger, snapshots, clock } = context
  const nowMs = clock.nowMs()
  const { config } = storeSettings(home)
  const facts = ledger.projects().map((summary) => factsOf(context, summary, { input, nowMs }))
  const dropOrphans = input.keepOrphans !== true && input.unattended !== true
  const rules = facts.map((project) => ({
    project,
    drop: dropByRules(
      {
        isOrphan: project.state === 'orphan',
        touchedAtMs: project.summary.touchedAtMs,
        checkpoints: project.points,
        maxCheckpoints: project.config.maxCheckpoints,
        retentionMs: project.config.retentionDays * DAY_MS,
      },
      { nowMs, dropOrphans },
    ),
  }))
  const old = oldSessions(context, config)
  const capBytes = Math.floor((input.maxSizeMb ?? config.maxSizeMb) * MB)
  const sizes = await StoreSizes.take(home, snapshots.gitDir)
  const commits = new Map(facts.flatMap(({ points }) => points.map((it) => [it.id, it.commit])))
  const gone = new Set(rules.flatMap(({ drop }) => drop.map(({ id }) => id)))
  const order = orderForSize(facts.map(({ points }) => points.filter(({ id }) => !gone.has(id))))
  const isGoneAfter = (steps: number) => new Set([...gone, ...order.slice(0, steps)])
  const fits = async (steps: number) =>
    (await sizes.after(commits, isGoneAfter(steps))) <= capBytes - lowerBy
  const steps = await fewest(order.length, fits)
  const forSize = new Set(order.slice(0, steps))
  const allGone = isGoneAfter(steps)
  const fileBytes = await sizes.after(commits, allGone)
  const sessions = await sessionsToDrop(context, old, {
    excess: fileBytes - (capBytes - lowerBy),
  })
  const live = await sizes.live(commits, allGone)
  const projects: ProjectPlan[] = []
  for (const { project, drop } of rules) {
    const more = project.points.filter(({ id }) => forSize.has(id))
    const all = [...drop, ...more.map(({ id }) => ({ id, why: 'size' as const }))]
    projects.push({
      project: project.summary.project,
      state: project.state,
      drop: all,
      keep: kept(project, new Set(all.map(({ id }) => id))),
      freesBytes: await sizes.freed(
        all.flatMap(({ id }) => commits.get(id) ?? []),
        live,
      ),
      isWhole: isPast(project, nowMs, dropOrphans) && all.length === project.points.length,
    })
  }
  return {
    projects,
    sessions: sessions.chosen,
    sizeBytes: sizes.total,
    capBytes,
    afterBytes: Math.max(0, fileBytes - sessions.bytes),
  }
}

function factsOf(
  { home, ledger }: StoreContext,
  summary: ProjectSummary,
  { input, nowMs }: { readonly input: PruneInput; readonly nowMs: number },
): Facts {
  const { project } = summary
  const config = { ...settingsOf(home, project.path), ...given(input) }
  const seen = new Set<string>()
  const points = ledger.pruning.checkpointsOf(project.id).map((point) => {
    const isNewestOfName = point.name !== null && !seen.has(point.name)
    if (point.name !== null) seen.add(point.name)
    return { ...point, guard: guardOf(point, { isNewestOfName, config, nowMs }) }
  })
  return { summary, state: projectStateOf(project.path, summary), points, config }
}

/** Nobody needs the project itself any more. */
function isPast({ state, summary, config }: Facts, nowMs: number, dropOrphans: boolean): boolean {
  const isStale = nowMs - summary.touchedAtMs > config.retentionDays * DAY_MS
  return isStale || (state === 'orphan' && dropOrphans)
}

/** A project whose folder is gone has no settings of its own any more. */
function settingsOf(home: string, path: BytePath): Config {
  return projectSettings(home, path).config
}

function given({ retentionDays, maxCheckpoints }: PruneInput): Partial<Config> {
  return {
    ...(retentionDays === undefined ? {} : { retentionDays }),
    ...(maxCheckpoints === undefined ? {} : { maxCheckpoints }),
  }
}

function guardOf(
  { pinned, session, isOfThread }: PruningFacts,
  { isNewestOfName, config, nowMs }: { isNewestOfName: boolean; config: Config; nowMs: number },
): Guard | null {
  if (pinned) return 'pinned'
  if (isNewestOfName) return 'named'
  if (isOfThread) return 'thread'
  const isGoingOn = session?.status === 'in_progress' && !isTooOld(session, nowMs, ages(config))
  return isGoingOn ? 'session' : null
}

function ages({ retentionDays, completedRetentionDays }: Config) {
  return {
    untouchedMs: retentionDays * DAY_MS,
    completedMs: completedRetentionDays * DAY_MS,
  }
}

function kept({ points }: Facts, gone: ReadonlySet<CheckpointId>): Map<Guard | 'recent', number> {
  const counts = new Map<Guard | 'recent', number>()
  for (const { id, guard } of points) {
    if (gone.has(id)) continue
    counts.set(guard ?? 'recent', (counts.get(guard ?? 'recent') ?? 0) + 1)
  }
  return counts
}

/** Sessions that nobody has touched for long; never one that a live process holds, or with a pinned checkpoint. */
function oldSessions({ ledger, clock }: StoreContext, config: Config): Session[] {
  const nowMs = clock.nowMs()
  return ledger.sessions
    .list({})
    .filter(({ lease }) => !isHeld(lease, nowMs))
    .filter(({ status, updatedAtMs }) =>
      isTooOld({ status: status.state, updatedAtMs }, nowMs, ages(config)),
    )
    .filter(({ key }) => !ledger.checkpoints.list({ session: key }).some(({ pinned }) => pinned))
}

/** When files alone do not do it, finished sessions go, the longest untouched first. */
async function sessionsToDrop(
  { ledger, clock }: StoreContext,
  old: readonly Session[],
  { excess }: { readonly excess: number },
): Promise<{ chosen: PrunePlan['sessions']; bytes: number }> {
  const nowMs = clock.nowMs()
  const chosen: { session: Session; why: 'age' | 'size' }[] = old.map((session) => ({
    session,
    why: 'age',
  }))
  const keysOf = () => chosen.map(({ session }) => session.key)
  let bytes = ledger.pruning.stateBytes(keysOf())
  if (bytes >= excess) return { chosen, bytes }
  const finished = ledger.sessions
    .list({})
    .filter(({ status, lease }) => status.state !== 'in_progress' && !isHeld(lease, nowMs))
    .filter((session) => !old.some(({ key }) => key === session.key))
    .filter(({ key }) => !ledger.checkpoints.list({ session: key }).some(({ pinned }) => pinned))
    .sort((a, b) => a.updatedAtMs - b.updatedAtMs)
  for (const session of finished) {
    if (bytes >= excess) break
    chosen.push({ session, why: 'size' })
    bytes = ledger.pruning.stateBytes(keysOf())
  }
  return { chosen, bytes }
}
