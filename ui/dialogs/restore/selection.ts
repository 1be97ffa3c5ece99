// Which lines of a plan the user has selected, and whether two plans show the same. Pure.
import type { Plan, PlanAction, PlanLine } from '../../../src/ui/api.js'

export type Selection = {
  /** The paths that the user ticked or unticked. They outlive the plan, so that a new plan keeps them. */
  readonly decisions: ReadonlyMap<string, boolean>
  /** Only these paths and what is inside them are selected at first; undefined for all. */
  readonly only: readonly string[] | undefined
}

/** Hunks of the patch of one file since the target. */
export type ChosenHunks = {
  readonly target: string
  readonly path: string
  readonly mark: string
  readonly hunks: readonly number[]
  /** The file has changed, so the earlier choice is void. */
  readonly isVoid: boolean
}

export function isChange({ action }: PlanLine): boolean {
  return action === 'write' || action === 'restore' || action === 'remove'
}

/** A kept path has no choice. A conflict can be unticked, so that the rest can be applied. */
export function canBeSelected({ action }: PlanLine): boolean {
  return action !== 'keep'
}

export function isSelected(line: PlanLine, { decisions, only }: Selection): boolean {
  if (!canBeSelected(line)) return false
  const decided = decisions.get(line.path)
  if (decided !== undefined) return decided
  return only === undefined || only.some((path) => isWithin(line.path, path))
}

export function decide(
  { decisions, only }: Selection,
  lines: readonly PlanLine[],
  ticked: boolean,
): Selection {
  const changed = new Map(decisions)
  for (const line of lines.filter(canBeSelected)) changed.set(line.path, ticked)
  return { decisions: changed, only }
}

/**
 * By path, but first the files that the user asked for, then conflicts. A folder is left out if a path inside it is listed: it
 * comes or goes with that. A file that was a folder, or the reverse, is listed: replacing it is a change of its own.
 */
export function listedLines(
  lines: readonly PlanLine[],
  only?: readonly string[],
): readonly PlanLine[] {
  const folders = new Set(lines.flatMap(({ path }) => foldersOf(path)))
  const rank = ({ action, path }: PlanLine) => {
    if (only?.some((wanted) => isWithin(path, wanted)) === true) return 0
    return action === 'conflict' ? 1 : 2
  }
  return lines
    .filter(({ action, path }) => action === 'write' || !folders.has(path))
    .toSorted((a, b) => rank(a) - rank(b) || (a.path < b.path ? -1 : a.path > b.path ? 1 : 0))
}

/**
 * The paths to send with `apply`; undefined for all. A folder means everything in it to the engine, so one that is not listed is
 * sent only if everything in it is selected.
 */
export function pathsToApply(
  lines: readonly PlanLine[],
  selection: Selection,
): readonly string[] | undefined {
  const listed = listedLines(lines)
  const left = listed.filter((line) => canBeSelected(line) && !isSelected(line, selection))
  if (left.length === 0) return undefined
  const partly = new Set(left.flatMap(({ path }) => foldersOf(path)))
  const leaves = new Set(listed.map(({ path }) => path))
  return lines
    .filter((line) =>
      leaves.has(line.path)
        ? isSelected(line, selection)
        : canBeSelected(line) && !partly.has(line.path),
    )
    .map(({ path }) => path)
}

export function countActions(lines: readonly PlanLine[]): Readonly<Record<PlanAction, number>> {
  const counts = { write: 0, restore: 0, remove: 0, keep: 0, conflict: 0 }
  for (const { action } of lines) counts[action] += 1
  return counts
}

/** Whether both plans do the same. The token, the time and the number of the target in the list differ between any two. */
export function showsSame(one: Plan, other: Plan): boolean {
  return shownText(one) === shownText(other)
}

function shownText(plan: Plan) {
  const { token, restore, goal, lines, notRestored, outside, unavailable, conversation } = plan
  return JSON.stringify([
    token === null,
    restore,
    goal,
    lines,
    notRestored,
    outside,
    unavailable,
    conversation,
  ])
}

function foldersOf(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.slice(1).map((_, index) => parts.slice(0, index + 1).join('/'))
}

function isWithin(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`)
}
