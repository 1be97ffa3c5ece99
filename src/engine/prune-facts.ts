// What a prune has to know of a project: its settings, whether its folder is there, and what keeps each checkpoint.
import {
  type Config,
  type ErrorCode,
  explainSystemError,
  type Guard,
  isTooOld,
  type Project,
  type ProjectId,
  SavestateError,
  type Session,
  type Settings,
} from '../model/index.js'
import type { ProjectSummary, PruningFacts } from '../ledger/index.js'
import { SnapshotFiles } from '../snapshot/index.js'
import type { StoreContext } from './context.js'
import { type ProjectState, projectFolder } from './project-state.js'
import { type PruneInput, withInput } from './prune-input.js'
import { PROJECT_FILE, projectSettings, settingsWith } from './settings.js'

const DAY_MS = 86_400_000
/** Its settings say nothing that can be used, or cannot be read. */
const FAULTS: readonly ErrorCode[] = ['CONFIG_INVALID', 'FILE_FAILED']

export type Point = PruningFacts & { readonly guard: Guard | null }

export type ProjectFacts = {
  readonly summary: ProjectSummary
  readonly state: ProjectState
  readonly unreachable: string | null
  /** Newest first. */
  readonly points: readonly Point[]
  readonly config: Config
  /** What is wrong with its settings: nothing of it is decided by guesses. */
  readonly fault: SavestateError | null
}

/** `fallback` are the settings of the store. */
type Way = { readonly nowMs: number; readonly input: PruneInput; readonly fallback: Config }

export async function factsOfAll(context: StoreContext, way: Way): Promise<ProjectFacts[]> {
  const saved = new SnapshotFiles(context.snapshots.gitDir)
  try {
    const facts: ProjectFacts[] = []
    for (const summary of context.ledger.projects())
      facts.push(await factsOfProject(context, summary, { ...way, saved }))
    return facts
  } finally {
    saved.close()
  }
}

async function factsOfProject(
  context: StoreContext,
  summary: ProjectSummary,
  { nowMs, input, fallback, saved }: Way & { readonly saved: SnapshotFiles },
): Promise<ProjectFacts> {
  const { project } = summary
  const { state, unreachable } = projectFolder(project.path, summary)
  const facts = { summary, state, unreachable }
  const pointsBy = (config: Config) => pointsOf(context, project.id, { config, nowMs })
  try {
    const isThere = state === 'live'
    const own = isThere
      ? projectSettings(context.home, project.path)
      : await savedSettings(context, { project, saved })
    const config = withInput(own.config, input)
    return { ...facts, config, points: pointsBy(config), fault: null }
  } catch (error) {
    // One project's fault must not keep the store from being pruned.
    const fault = explainSystemError(error)
    if (!(fault instanceof SavestateError && FAULTS.includes(fault.code))) throw error
    return { ...facts, config: fallback, points: pointsBy(fallback), fault }
  }
}

/** As they were when the project was saved last: what was to be kept for long is not dropped because a disk is away. */
async function savedSettings(
  { home, ledger }: StoreContext,
  { project, saved }: { readonly project: Project; readonly saved: SnapshotFiles },
): Promise<Settings> {
  const { id, path } = project
  const tree = ledger.checkpoints.newestFiles(id)?.snapshot.tree
  const text = tree === undefined ? undefined : await saved.textOf(tree, PROJECT_FILE)
  return settingsWith(home, { path, text })
}

export function retentionMsOf({ retentionDays }: Config): number {
  return retentionDays * DAY_MS
}

/** Newest first. */
export function pointsOf(
  { ledger }: StoreContext,
  project: ProjectId,
  when: { readonly config: Config; readonly nowMs: number },
): Point[] {
  const seen = new Set<string>()
  return ledger.pruning.checkpointsOf(project).map((point) => {
    const isNewestOfName = point.name !== null && !seen.has(point.name)
    if (point.name !== null) seen.add(point.name)
    return { ...point, guard: guardOf(point, { isNewestOfName, ...when }) }
  })
}

export function isSessionTooOld(
  session: Pick<Session, 'updatedAtMs'> & { readonly status: Session['status']['state'] },
  { config, nowMs }: { readonly config: Config; readonly nowMs: number },
): boolean {
  return isTooOld(session, nowMs, {
    untouchedMs: retentionMsOf(config),
    completedMs: config.completedRetentionDays * DAY_MS,
  })
}

function guardOf(
  { pinned, session, isOfThread }: PruningFacts,
  {
    isNewestOfName,
    ...when
  }: { readonly isNewestOfName: boolean; readonly config: Config; readonly nowMs: number },
): Guard | null {
  if (pinned) return 'pinned'
  if (isNewestOfName) return 'named'
  if (isOfThread) return 'thread'
  const isGoingOn = session?.status === 'in_progress' && !isSessionTooOld(session, when)
  return isGoingOn ? 'session' : null
}
