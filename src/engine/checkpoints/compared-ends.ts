// The two ends of a comparison: a checkpoint and the one before it, another checkpoint, or the folder as it is now.
import * as z from 'zod/mini'
import {
  type BytePath,
  type FilesCheckpoint,
  invariant,
  type ObjectId,
  type Project,
  SavestateError,
} from '../../model/index.js'
import { captureNow } from './capture.js'
import { ensureProject, findKnownProject, type ProjectContext } from '../operation/context.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import type { Callbacks } from '../operation/callbacks.js'
import { withRecoveredProject } from '../restore/recover.js'
import { resolve, withFiles } from './resolve-ref.js'

export const endFields = () => ({
  from: z.string(),
  to: z.optional(z.string()),
  /** Compares `from` with the checkpoint with files before it in the project. */
  previous: z._default(z.boolean(), false),
})

export type ComparedEnds = {
  readonly project: Project
  /** Undefined if there is no checkpoint before the first one. */
  readonly from: FilesCheckpoint | undefined
  /** Undefined for the folder as it is now. */
  readonly to: FilesCheckpoint | undefined
  /** Undefined for an empty snapshot. */
  readonly before: ObjectId | undefined
  readonly after: ObjectId
}

/**
 * Scans the folder only if it is one of the ends. The caller holds the objects lock shared. Throws CHECKPOINT_DAMAGED if one of
 * `paths`, by default of all files, is lost.
 */
export async function resolveEnds(
  context: ProjectContext,
  input: { readonly from: string; readonly to?: string | undefined; readonly previous: boolean },
  { paths, callbacks }: { readonly paths?: readonly BytePath[]; readonly callbacks: Callbacks },
): Promise<ComparedEnds> {
  const { ledger } = context
  if (input.previous && input.to !== undefined)
    throw new SavestateError('BAD_INPUT', 'A comparison takes either `to` or `previous`, not both')
  const project = findKnownProject(context)
  const named = withFiles(resolve(ledger, project, input.from))
  const other = input.to === undefined ? undefined : withFiles(resolve(ledger, project, input.to))
  invariant(project !== undefined, 'a checkpoint was resolved in a project')
  const [from, to] = input.previous
    ? [ledger.checkpoints.filesBefore(named), named]
    : [named, other]
  for (const end of [from, to]) if (end !== undefined) refuseDamagedFiles(ledger, end, paths)
  const before = from?.snapshot.tree
  const after = to?.snapshot.tree ?? (await captureFolder(context, named.snapshot.tree, callbacks))
  return { project, from, to, before, after }
}

/** Makes a snapshot of the folder without a checkpoint. The next save reuses its objects, or a prune removes them. */
export async function captureFolder(
  context: ProjectContext,
  tree: ObjectId,
  callbacks: Callbacks,
): Promise<ObjectId> {
  const project = ensureProject(context)
  return withRecoveredProject(context, project, {
    purpose: 'diff',
    callbacks,
    work: async () => {
      const { snapshot } = await captureNow(context, project, { named: { tree }, callbacks })
      return snapshot.tree
    },
  })
}
