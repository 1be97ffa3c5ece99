// A rewind to before `savestate install --project` would remove the hooks that make the checkpoints: from the next start
// of the agent on, nothing would be saved. So a file with our hooks stays if the checkpoint has it without them.
import {
  type BytePath,
  bytePath,
  HAS_HOOKS,
  keepInPlan,
  type ObjectId,
  pathText,
  type Project,
  type RestorePlan,
} from '../../model/index.js'
import { SnapshotFiles } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import { noteKeys } from '../store/kv-notes.js'

/** `install:<absolute path>` is the key of the note on the changes that an install made to a file. */
export const INSTALL_NOTE = 'install:'

/** Every hook, plugin and server entry of every version contains this. */
const MARK = /savestate/i

export async function keepHooks(
  context: StoreContext,
  project: Project,
  {
    plan,
    now,
    goal,
    paths = [],
  }: {
    readonly plan: RestorePlan
    readonly now: ObjectId
    readonly goal: ObjectId
    /** A file that the user names is restored even if it has our hooks. */
    readonly paths: readonly BytePath[] | undefined
  },
): Promise<RestorePlan> {
  const changed = new Set([...plan.write, ...plan.remove].map(({ path }) => path))
  // The files of the project that an install has changed.
  const prefix = `${INSTALL_NOTE}${pathText(project.path)}/`
  const candidates = noteKeys(context, prefix)
    .map((key) => bytePath(key.slice(prefix.length)))
    .filter((path) => changed.has(path) && !paths.includes(path))
  if (candidates.length === 0) return plan
  const files = new SnapshotFiles(context.snapshots.gitDir)
  try {
    const hasMark = async (tree: ObjectId, path: BytePath) => {
      const file = await files.read(tree, path)
      return file?.type === 'file' && MARK.test(file.content.toString('latin1'))
    }
    const kept: BytePath[] = []
    for (const path of candidates)
      if ((await hasMark(now, path)) && !(await hasMark(goal, path))) kept.push(path)
    return keepInPlan(plan, kept, HAS_HOOKS)
  } finally {
    files.close()
  }
}
