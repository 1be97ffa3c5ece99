// The input of a prune plan: for each project its settings, whether its folder exists, and what protects each checkpoint.
import { isPromptReason } from '../../base/index.js'
import {
  type Config,
  type Guard,
  hourGroup,
  type Project,
  type ProjectId,
  promptGroup,
  type Prunable,
  type PruneOptions,
  retentionPolicy,
  type RetentionPolicy,
  type SavestateError,
  type SessionKey,
  type Settings,
} from '../../model/index.js'
import type { ProjectSummary, PruningRow } from '../../ledger/index.js'
import { SnapshotFiles } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import { isHeld } from '../sessions/open-session.js'
import { type ProjectState, projectFolder } from '../projects/project-state.js'
import { PROJECT_FILE } from '../projects/project-trust.js'
import { projectSettings, settingsFault, settingsWith } from '../store/settings.js'

export type Point = PruningRow & Prunable

export type PruneProject = {
  readonly summary: ProjectSummary
  readonly state: ProjectState
  readonly unreachable: string | null
  /** Newest first. */
  readonly points: readonly Point[]
  readonly rules: RetentionPolicy
  /** The error in its settings. The prune removes nothing from such a project. */
  readonly fault: SavestateError | null
}

type ReadOptions = {
  readonly nowMs: number
  readonly input: PruneOptions
  /** The settings of the store. */
  readonly fallback: Config
  /** Sessions that a live process writes. */
  readonly leased: ReadonlySet<SessionKey>
}

export async function readProjects(
  context: StoreContext,
  options: ReadOptions,
): Promise<PruneProject[]> {
  const saved = new SnapshotFiles(context.snapshots.gitDir)
  try {
    const facts: PruneProject[] = []
    for (const summary of context.ledger.projects())
      facts.push(await readProject(context, summary, { ...options, saved }))
    return facts
  } finally {
    saved.close()
  }
}

/** Sessions that a live process writes. */
export function leasedSessions({ ledger }: StoreContext, nowMs: number): ReadonlySet<SessionKey> {
  const leased = ledger.sessions.list({}).filter(({ lease }) => isHeld(lease, nowMs))
  return new Set(leased.map(({ key }) => key))
}

async function readProject(
  context: StoreContext,
  summary: ProjectSummary,
  { nowMs, input, fallback, saved, leased }: ReadOptions & { readonly saved: SnapshotFiles },
): Promise<PruneProject> {
  const { project, touchedAtMs } = summary
  const { state, unreachable } = projectFolder(project.path, summary)
  const projectBy = (config: Config, fault: SavestateError | null) => {
    const rules = retentionPolicy(config, input)
    const points = readPoints(context, project.id, { rules, nowMs, touchedAtMs, leased })
    return { summary, state, unreachable, rules, points, fault }
  }
  try {
    const own =
      state === 'live'
        ? projectSettings(context.home, project.path)
        : await savedSettings(context, project, saved)
    return projectBy(own.config, null)
  } catch (error) {
    // An error in one project must not stop the prune of the store.
    const fault = settingsFault(error)
    if (fault === undefined) throw error
    return projectBy(fallback, fault)
  }
}

/** The settings in the newest checkpoint: an unmounted disk must not change how long history is kept. */
async function savedSettings(
  { home, ledger }: StoreContext,
  { id, path }: Project,
  saved: SnapshotFiles,
): Promise<Settings> {
  const tree = ledger.checkpoints.newestFiles(id)?.snapshot.tree
  const text = tree === undefined ? undefined : await saved.textOf(tree, PROJECT_FILE)
  return settingsWith(home, { path, text })
}

const OF_REWINDS: readonly PruningRow['kind'][] = ['safety', 'rewind', 'undo', 'redo', 'recovery']

/** Newest first; for null, the checkpoints of sessions without a project. `touchedAtMs`: when the project was last used. */
export function readPoints(
  { ledger }: StoreContext,
  project: ProjectId | null,
  {
    rules,
    nowMs,
    touchedAtMs,
    leased,
  }: Pick<ReadOptions, 'nowMs' | 'leased'> & {
    readonly rules: RetentionPolicy
    readonly touchedAtMs: number
  },
): Point[] {
  const rows = ledger.pruning.checkpointsOf(project)
  const newestFiles = rows.find(({ commit }) => commit !== null)
  const starts = ageStarts(rows, nowMs)
  const names = new Set<string>()
  const guardOf = (row: PruningRow, agedFromMs: number): Guard | null => {
    const { pinned, name, session, isOfThread, isNamedByUser } = row
    const isNewestOfName = name !== null && !names.has(name)
    if (name !== null) names.add(name)
    if (pinned) return 'pinned'
    // A program may give each of its steps the same name; only the newest of these is protected.
    if (isNamedByUser || isNewestOfName) return 'named'
    if (isOfThread) return 'thread'
    if (session === null) return null
    if (leased.has(session.key)) return 'session'
    const isActive =
      session.status === 'in_progress' && nowMs - session.updatedAtMs <= rules.activeMs
    const isCovered = rules.tiers === null || nowMs - agedFromMs <= rules.activeMs
    return isActive && isCovered ? 'session' : null
  }
  return rows.map((row, index) => {
    const { session, name, kind } = row
    const agedFromMs = starts[index] ?? row.createdAtMs
    const guard = guardOf(row, agedFromMs)
    const isHead = session?.isHead === true
    const isNewest = project !== null && (index === 0 || row === newestFiles)
    const used = [...(isNewest ? [touchedAtMs] : []), ...(isHead ? [session.updatedAtMs] : [])]
    const isLeasedNow = session !== null && leased.has(session.key)
    return {
      ...row,
      guard,
      agedFromMs,
      group: groupOf(row),
      isPrompt: session !== null && isPromptReason(row.reason),
      isSpecial:
        name !== null || row.isInOperation || row.isBeforeOperation || OF_REWINDS.includes(kind),
      // A session in progress thins out like any other, unless a process is at work on it.
      isGuarded: guard !== null && (guard !== 'session' || isLeasedNow),
      usedAtMs: used.length === 0 ? null : Math.max(...used),
      hasFiles: row.commit !== null,
      isHead,
    }
  })
}

/** Takes rows newest first. A checkpoint is not older than those saved before it, even if the clock was set back since. */
function ageStarts(rows: readonly PruningRow[], nowMs: number): number[] {
  let latestMs = 0
  const starts = rows.toReversed().map(({ createdAtMs, importedAtMs }) => {
    // A time in the future was a clock error and says nothing about later rows.
    if (createdAtMs <= nowMs) latestMs = Math.max(latestMs, createdAtMs)
    return Math.max(latestMs, createdAtMs, importedAtMs ?? 0)
  })
  return starts.reverse()
}

/** A save with a reason is in no group; saves without one are grouped by hour. */
function groupOf({ session, reason, kind, createdAtMs }: PruningRow): string | null {
  if (session === null)
    return reason !== null || kind === 'imported' ? null : hourGroup(createdAtMs)
  // An import gives all its rows the current turn of the session.
  if (session.turn > 0 && kind !== 'imported') return promptGroup(session.key, session.turn)
  return `session ${session.key} ${hourGroup(createdAtMs)}`
}
