// Who has changed each path between a checkpoint and a later one, or the folder as it is. Told by comparing each
// snapshot with the one before it, so it costs as much as there are checkpoints between.
import type { FilesStep } from '../../ledger/index.js'
import {
  type Authors,
  authorText,
  type BytePath,
  type CheckpointId,
  joinAuthors,
  type ObjectId,
  PathOwners,
  PERSON,
  type Project,
  REWIND,
  shownAuthors,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Hooks } from '../operation/callbacks.js'
import { lookAt } from './note-authors.js'

/** Two snapshots, one after the other, and who has made the second of the first. */
export type Stretch = {
  readonly before: ObjectId
  readonly after: ObjectId
  readonly authors: Authors
}

/** More than any rewind goes back over. Of more the oldest are taken together, and are everybody's who was at work. */
const MAX_STRETCHES = 1000

/** From one checkpoint to another of the project, whichever of the two is the older one. */
export function stretchesBetween(
  context: StoreContext,
  project: Project,
  ends: readonly [CheckpointId, CheckpointId],
): readonly Stretch[] {
  for (const [older, newer] of [ends, [ends[1], ends[0]] as const]) {
    const steps = context.ledger.authorship.stepsFrom(project.id, older)
    const last = steps.findIndex(({ id }) => id === newer)
    if (last >= 0) return stretchesOf(context, steps.slice(0, last + 1))
  }
  return []
}

/** From a checkpoint to the folder as it is: `now` was just captured. */
export function stretchesSince(
  context: StoreContext,
  project: Project,
  { from, now }: { readonly from: CheckpointId; readonly now: ObjectId },
): readonly Stretch[] {
  const steps = context.ledger.authorship.stepsFrom(project.id, from)
  const { authors } = lookAt(context, project, { type: 'look' })
  return stretchesOf(context, [...steps, { id: undefined, tree: now, authors }])
}

/** For each path the names of all who have changed it; null where nobody knows. */
export async function authorsOfPaths(
  { snapshots }: StoreContext,
  stretches: readonly Stretch[],
): Promise<(path: BytePath) => string | null> {
  const [first, ...others] = stretches
  if (first === undefined) return () => null
  const whole = authorText(first.authors)
  // The usual case costs nothing: one of them has done it all.
  if (others.every(({ authors }) => authorText(authors) === whole)) return () => whole
  const byPath = new Map<BytePath, Authors>()
  for (const { before, after, authors } of stretches) {
    const shown = authors === null ? null : shownAuthors(authors)
    for (const { path } of await snapshots.compare(before, after, { countLines: false }))
      byPath.set(path, byPath.has(path) ? joinAuthors(byPath.get(path) ?? null, shown) : shown)
  }
  return (path) => authorText(byPath.get(path) ?? null)
}

/** The paths that hold, or lack, what the person has made of them since a checkpoint. */
export async function pathsToKeep(
  context: StoreContext,
  project: Project,
  { from, now, hooks }: { from: CheckpointId; now: ObjectId; hooks: Hooks },
): Promise<readonly BytePath[]> {
  const stretches = stretchesSince(context, project, { from, now })
  if (!hasAgents(stretches))
    hooks.onNotice?.(
      'No agent is known to have changed anything since then, so all differences count as changed by you and stay.',
    )
  const owners = new PathOwners()
  for (const { before, after, authors } of stretches) {
    const changes = await context.snapshots.compare(before, after, { countLines: false })
    for (const change of changes) owners.follow(change, authors)
  }
  return owners.persons()
}

/** Whether an agent, or a command, is known to have changed something. */
function hasAgents(stretches: readonly Stretch[]): boolean {
  return stretches.some(({ authors }) =>
    shownAuthors(authors ?? []).some((name) => !ALONE.includes(name)),
  )
}

const ALONE: readonly string[] = [PERSON, REWIND]

type Step = Omit<FilesStep, 'id'> & { readonly id: CheckpointId | undefined }

/** A damaged snapshot can be compared with nothing: what it changed is part of what the next one shows. */
function stretchesOf({ ledger }: StoreContext, steps: readonly Step[]): readonly Stretch[] {
  const damaged = ledger.marks.damaged()
  const stretches: Stretch[] = []
  let [before] = steps
  let handed: Authors = []
  for (const step of steps.slice(1)) {
    const authors = joinAuthors(handed, step.authors)
    if (step.id !== undefined && damaged.has(step.id)) {
      handed = authors
      continue
    }
    if (before !== undefined && before.tree !== step.tree)
      stretches.push({ before: before.tree, after: step.tree, authors })
    before = step
    handed = []
  }
  return shortened(stretches)
}

function shortened(stretches: readonly Stretch[]): readonly Stretch[] {
  const old = stretches.slice(0, -MAX_STRETCHES)
  const [first, last] = [old[0], old.at(-1)]
  if (first === undefined || last === undefined) return stretches
  const authors = old.reduce<Authors>((all, one) => joinAuthors(all, one.authors), [])
  return [{ before: first.before, after: last.after, authors }, ...stretches.slice(-MAX_STRETCHES)]
}
