// A rewind of chosen hunks: the folder as it is, without these changes since the target.
import type { FilesCheckpoint, HunkChoice, ObjectId, Project } from '../../model/index.js'
import { describeTarget } from '../checkpoints/describe-target.js'
import type { StoreContext } from '../operation/context.js'
import type { MadeGoal, RestoreRequest } from '../restore/restore.js'
import { parseProjectPath } from '../operation/project-path.js'

const CONTEXT = 3

export function hunksRequest(
  context: StoreContext,
  project: Project,
  { target, hunks }: { readonly target: FilesCheckpoint; readonly hunks: readonly HunkChoice[] },
): Pick<RestoreRequest, 'only' | 'makeGoal' | 'reason'> {
  const choices = hunks.map((choice) => ({
    path: parseProjectPath(choice.path),
    mark: choice.mark,
    context: choice.context ?? CONTEXT,
    hunks: choice.hunks,
  }))
  return {
    reason: `rewind of single changes to ${describeTarget(target)}`,
    only: choices.map(({ path }) => path),
    makeGoal: async (now: ObjectId): Promise<MadeGoal> => {
      const work = { project: project.id, target: target.snapshot.tree, now, choices }
      const goal = await context.snapshots.chooseHunks(work)
      return { goal, keep: [], conflict: [], reasons: new Map() }
    },
  }
}
