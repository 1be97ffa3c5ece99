// The lines of a plan, and the check that an operation is about to do exactly what its lines say.
import { type PlanDetails, type PlanView, type Project, SavestateError } from '../../internal.js'
import type { PlanAction, PlanLine } from '../api.js'
import { type ShownPlan, stalePlan } from './plan-tokens.js'

export type MadePlan = { readonly plan: PlanView; readonly details: PlanDetails }

/** With the author of each change since the target. */
export async function planLines(
  project: Project,
  { plan, details }: MadePlan,
): Promise<readonly PlanLine[]> {
  const lines = linesOf(plan)
  if (lines.length === 0) return []
  const { changes } = await project.diff(details.target, { patch: 'none' })
  const authors = new Map(changes.map(({ path, author }) => [path, author]))
  return lines.map((line) => ({ ...line, author: authors.get(line.path) ?? null }))
}

function linesOf({ write, remove, keep, conflict }: PlanView): Omit<PlanLine, 'author'>[] {
  const as = (action: PlanAction, items: PlanView['write']) =>
    items.map(({ path, reason = null }) => ({ action, path, reason }))
  return [
    ...as('conflict', conflict),
    ...write.map(({ path, reason = null, change }) => ({
      action: change === 'added' ? ('restore' as const) : ('write' as const),
      path,
      reason,
    })),
    ...as('remove', remove),
    ...as('keep', keep),
  ]
}

export function isChange({ action }: Pick<PlanLine, 'action'>): boolean {
  return action !== 'keep' && action !== 'conflict'
}

/**
 * Throws PLAN_STALE unless the plan is for the shown folder and changes exactly the selected paths, all in the shown way. A
 * folder that a selected path needs may change too if it was shown.
 */
export function expectShown(
  { plan, details }: MadePlan,
  shown: Pick<ShownPlan, 'now' | 'target' | 'goal' | 'lines'>,
  selected: ReadonlySet<string>,
): void {
  const { now, target, goal } = details
  if (now !== shown.now || target !== shown.target || goal !== shown.goal) throw stalePlan(CHANGED)
  const actions = new Map(shown.lines.map(({ path, action }) => [path, action]))
  const changes = linesOf(plan).filter((line) => line.action !== 'keep')
  const above = foldersAbove(selected)
  const isShown = changes.every(
    ({ path, action }) => actions.get(path) === action && (selected.has(path) || above.has(path)),
  )
  const done = new Set(changes.map(({ path }) => path))
  if (!isShown || [...selected].some((path) => !done.has(path))) throw stalePlan(CHANGED)
}

const CHANGED = 'the folder has changed since the plan was made'

/**
 * The paths that the operation gets. A folder stands for everything in it, so it is left out if the user has left out
 * something in it: a folder with a file that stays cannot be removed.
 */
export function selectPaths(
  lines: readonly PlanLine[],
  wanted: ReadonlySet<string>,
): ReadonlySet<string> {
  const left = lines.filter(({ action, path }) => action !== 'keep' && !wanted.has(path))
  const partly = foldersAbove(left.map(({ path }) => path))
  return new Set([...wanted].filter((path) => !partly.has(path)))
}

/**
 * Throws BAD_INPUT if the plan for the selected paths replaces a path above them that the user has left out, such as a file where
 * their folder was. A folder that is missing comes back without being selected.
 */
export function refuseReplacedAbove(
  { plan }: Pick<MadePlan, 'plan'>,
  wanted: ReadonlySet<string>,
): void {
  const above = foldersAbove(wanted)
  const replaced = linesOf(plan).find(
    ({ action, path }) => action === 'write' && above.has(path) && !wanted.has(path),
  )
  if (replaced === undefined) return
  const path = JSON.stringify(replaced.path)
  throw new SavestateError('BAD_INPUT', `${path} is in the way of a selected path inside it`, {
    hint: 'Select it too, or leave out the paths inside it.',
  })
}

/** Every folder that one of the paths is in. A plan may have 100,000 paths, so they are not compared with each other. */
function foldersAbove(paths: Iterable<string>): ReadonlySet<string> {
  const folders = new Set<string>()
  for (const path of paths)
    for (let end = path.lastIndexOf('/'); end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      if (folders.has(folder)) break
      folders.add(folder)
    }
  return folders
}
