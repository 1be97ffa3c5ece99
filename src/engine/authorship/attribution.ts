// Finds out who changed each path between two checkpoints, or between a checkpoint and the folder. It compares every
// snapshot in between with its predecessor, so the cost grows with the number of checkpoints.
import type { FilesStep, Ledger } from '../../ledger/index.js'
import {
  type Authors,
  authorText,
  type BytePath,
  type CheckpointId,
  joinAuthors,
  type ObjectId,
  PathOwners,
  USER_AUTHOR,
  type Project,
  REWIND,
  shownAuthors,
  type UserPath,
} from '../../model/index.js'
import type { StoreContext } from '../operation/context.js'
import type { Callbacks } from '../operation/callbacks.js'
import { attributeChanges } from './note-authors.js'

/** Two consecutive snapshots and the authors of the changes between them. */
type SnapshotRange = {
  readonly before: ObjectId
  readonly after: ObjectId
  readonly authors: Authors
  /** Made by a rewind that merged contents. */
  readonly isMerge?: boolean
}

/** Upper bound. Older ranges are merged and attributed to everyone who took part. */
const MAX_RANGES = 1000

/** The ranges from one checkpoint of the project to another, in either order. */
export function rangesBetween(
  context: StoreContext,
  project: Project,
  ends: readonly [CheckpointId, CheckpointId],
): readonly SnapshotRange[] {
  for (const [older, newer] of [ends, [ends[1], ends[0]] as const]) {
    const steps = context.ledger.authorship.stepsFrom(project.id, older)
    const last = steps.findIndex(({ id }) => id === newer)
    if (last >= 0) return makeRanges(context, steps.slice(0, last + 1))
  }
  return []
}

/** The ranges from a checkpoint to the folder as it is: `now` was just captured. */
export function rangesSince(
  context: StoreContext,
  project: Project,
  { from, now }: { readonly from: CheckpointId; readonly now: ObjectId },
): readonly SnapshotRange[] {
  const steps = context.ledger.authorship.stepsFrom(project.id, from)
  const { authors } = attributeChanges(context, project, { type: 'look' })
  return makeRanges(context, [...steps, { id: undefined, tree: now, authors }])
}

/** Returns a function from a path to the names of its authors; null if unknown. */
export async function attributePaths(
  { snapshots }: StoreContext,
  ranges: readonly SnapshotRange[],
): Promise<(path: BytePath) => string | null> {
  const [first, ...others] = ranges
  if (first === undefined) return () => null
  const whole = authorText(first.authors)
  // The usual case needs no comparison: one author made all changes.
  if (others.every(({ authors }) => authorText(authors) === whole)) return () => whole
  const byPath = new Map<BytePath, Authors>()
  for (const { before, after, authors } of ranges) {
    const shown = authors === null ? null : shownAuthors(authors)
    for (const { path } of await snapshots.compare(before, after, { countLines: false }))
      byPath.set(path, byPath.has(path) ? joinAuthors(byPath.get(path) ?? null, shown) : shown)
  }
  return (path) => authorText(byPath.get(path) ?? null)
}

/** The paths whose present content, or absence, has work of the user since a checkpoint. */
export async function userPathsSince(
  context: StoreContext,
  project: Project,
  { from, now, callbacks }: { from: CheckpointId; now: ObjectId; callbacks: Callbacks },
): Promise<readonly UserPath[]> {
  const ranges = rangesSince(context, project, { from, now })
  const names = ranges.flatMap(({ authors }) => shownAuthors(authors ?? []))
  if (names.every((name) => name === USER_AUTHOR || name === REWIND))
    callbacks.onWarning?.(
      'No agent is known to have changed anything since then, so all differences count as changed by you and stay.',
    )
  const owners = new PathOwners()
  for (const { before, after, authors, isMerge } of ranges) {
    const changes = await context.snapshots.compare(before, after, { countLines: false })
    for (const change of changes) owners.follow(change, authors, isMerge)
  }
  return owners.userPaths()
}

type Step = Omit<FilesStep, 'id'> & { readonly id: CheckpointId | undefined }

/** A damaged snapshot cannot be compared, so its authors are added to those of the next one. */
function makeRanges({ ledger }: StoreContext, steps: readonly Step[]): readonly SnapshotRange[] {
  const damaged = ledger.marks.damaged()
  const ranges: SnapshotRange[] = []
  let [before] = steps
  let carried: Authors = []
  for (const step of steps.slice(1)) {
    const authors = joinAuthors(carried, step.authors)
    if (step.id !== undefined && damaged.has(step.id)) {
      carried = authors
      continue
    }
    if (before !== undefined && before.tree !== step.tree)
      ranges.push({
        before: before.tree,
        after: step.tree,
        authors,
        isMerge: authors?.join() === REWIND && isMerge(ledger, step.id),
      })
    before = step
    carried = []
  }
  return mergeOldest(ranges)
}

function isMerge({ checkpoints }: Ledger, id: CheckpointId | undefined): boolean {
  return id !== undefined && checkpoints.details(id)?.rewind?.isMerge === true
}

function mergeOldest(ranges: readonly SnapshotRange[]): readonly SnapshotRange[] {
  const old = ranges.slice(0, -MAX_RANGES)
  const [first, last] = [old[0], old.at(-1)]
  if (first === undefined || last === undefined) return ranges
  const authors = old.reduce<Authors>((all, one) => joinAuthors(all, one.authors), [])
  return [{ before: first.before, after: last.after, authors }, ...ranges.slice(-MAX_RANGES)]
}
