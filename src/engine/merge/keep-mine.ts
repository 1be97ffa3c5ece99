// `--keep-mine`: the target of a rewind with the user's changes since then (docs/internals/history.md#keep-the-users-lines).
import {
  type BytePath,
  type CheckpointId,
  type FileEntry,
  isInside,
  MERGED_WITH_MINE,
  type ObjectId,
  type Project,
  type UserPath,
} from '../../model/index.js'
import { userPathsSince } from '../authorship/attribution.js'
import type { Callbacks } from '../operation/callbacks.js'
import type { StoreContext } from '../operation/context.js'
import type { MadeGoal } from '../restore/restore.js'

/** Files whose lines cannot be separated stay as they are, as do folders, links, and files that others did not change. */
export async function keepMine(
  context: StoreContext,
  project: Project,
  {
    target,
    tree,
    paths,
    now,
    callbacks,
  }: {
    readonly target: CheckpointId
    readonly tree: ObjectId
    /** Undefined for all. */
    readonly paths: readonly BytePath[] | undefined
    readonly now: ObjectId
    readonly callbacks: Callbacks
  },
): Promise<MadeGoal> {
  const since = { from: target, now, callbacks }
  const mine = await userPathsSince(context, project, since)
  const isWanted = (path: BytePath) =>
    paths === undefined || paths.some((limit) => isInside(path, limit))
  const shared = mine.filter(({ path, isShared }) => isShared && isWanted(path))
  const files = shared.flatMap((one) => fileOf(one) ?? [])
  const { tree: goal, merged } = await context.snapshots.applyEdits({
    project: project.id,
    tree,
    files,
  })
  const leave = mine.map(({ path }) => path).filter((path) => !merged.has(path))
  const reasons = new Map([...merged.keys()].map((path) => [path, MERGED_WITH_MINE]))
  return { goal, leave, reasons, keep: [], conflict: [] }
}

function fileOf({ path, start, present, edits }: UserPath) {
  const isFile = (entry: UserPath['start']): entry is FileEntry => entry?.type === 'file'
  if (
    !isFile(start) ||
    !isFile(present) ||
    !edits.every(({ before, after }) => isFile(before) && isFile(after))
  )
    return undefined
  return { path, start, present, edits }
}
