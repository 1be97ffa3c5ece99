// Questions about the paths of snapshots that several calls of the capture thread need.
import {
  type BytePath,
  type ChangeCounts,
  isInside,
  type ObjectId,
  printablePath,
  ROOT,
  SavestateError,
} from '../../model/index.js'
import { absolute } from '../capture/capture-target.js'
import { lstat } from '../capture/stat-cache/stats.js'
import type { Change, SnapshotComparer } from '../compare/compare.js'
import type { TreeDiff } from '../git/tree-diff.js'
import type { ExpectRequest, NamedPaths } from './capture-requests.js'

/** The named paths that a capture lacks. */
export async function findNamedPaths(
  now: ObjectId,
  { tree, inside, paths = [] }: NamedPaths,
  compare: (before: ObjectId, after: ObjectId) => Promise<readonly Change[]>,
): Promise<readonly BytePath[]> {
  if (tree === undefined) return paths
  const isMeant = (path: BytePath) =>
    inside === undefined || inside.some((limit) => isInside(path, limit) || isInside(limit, path))
  const changes = await compare(now, tree)
  const lacking = changes.filter(({ path, before }) => before === undefined && isMeant(path))
  return [...lacking.map(({ path }) => path), ...paths]
}

export async function countChanges(
  comparer: SnapshotComparer,
  { before, after, diff }: { before: ObjectId | undefined; after: ObjectId; diff: TreeDiff },
): Promise<ChangeCounts> {
  try {
    return await comparer.count(before, after, diff)
  } catch (error) {
    // If the previous checkpoint is damaged, its counts are useless, but this checkpoint must not fail.
    const isDamage =
      error instanceof SavestateError && ['STORE_DAMAGED', 'GIT_FAILED'].includes(error.code)
    if (before === undefined || !isDamage) throw error
    return comparer.count(undefined, after, diff)
  }
}

/** Throws for a path that is neither in a snapshot nor in the folder: it is most likely mistyped. */
export async function expectPaths(
  comparer: SnapshotComparer,
  { target, trees, paths }: ExpectRequest,
): Promise<void> {
  for (const path of paths) {
    if (path === ROOT || lstat(absolute(target, path)) !== undefined) continue
    const isInTree = await Promise.all(trees.map((tree) => comparer.has(tree, path)))
    if (isInTree.includes(true)) continue
    const checkpoints = trees.length === 1 ? 'the checkpoint' : 'any of the checkpoints'
    throw new SavestateError(
      'BAD_INPUT',
      `Neither the folder nor ${checkpoints} has ${printablePath(path)}`,
      {
        hint: 'Check the spelling. Paths are relative to the current folder, or to DIR with `-C DIR`.',
      },
    )
  }
}
