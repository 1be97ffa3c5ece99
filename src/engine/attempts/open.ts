// Writes a checkpoint into another folder, to read it or to work there. The project and its history stay as they are, and the folder
// becomes a project only if something is saved in it.
import * as z from 'zod/mini'
import {
  type BytePath,
  type FilesCheckpoint,
  invariant,
  pathText,
  type Project,
} from '../../model/index.js'
import { withFilesHere } from '../checkpoints/files-here.js'
import { resolve, withFiles } from '../checkpoints/resolve-ref.js'
import type { Callbacks } from '../operation/callbacks.js'
import { findKnownProject, type StoreContext } from '../operation/context.js'
import { projectOperation } from '../operation/operation.js'
import { recoverIfNeeded } from '../restore/recover.js'
import { refuseDamagedFiles } from '../verify/damage-marks.js'
import { bringDependencies, DEPENDENCY_MODES, type DependencyMode } from './dependencies.js'
import { prepareDestination } from './destination.js'

export type OpenResult = {
  /** The real path of the folder. */
  readonly path: string
  readonly checkpoint: string
}

const ID_LETTERS = 8

export const open = projectOperation({
  name: 'open',
  summary: 'Write a checkpoint into another folder',
  effect: 'adds',
  input: () =>
    z.strictObject({
      ref: z.string(),
      /** Beside the project, with the start of the id at the end of its name, if left out. */
      into: z.optional(z.string()),
      dependencies: z._default(z.enum(DEPENDENCY_MODES), 'none'),
    }),
  async run(context, { ref, into, dependencies }, callbacks): Promise<OpenResult> {
    await recoverIfNeeded(context, callbacks)
    const project = findKnownProject(context)
    const checkpoint = withFiles(
      await withFilesHere(context, resolve(context.ledger, project, ref)),
    )
    invariant(project !== undefined, 'a checkpoint was resolved in a project')
    const folder = into ?? besideProject(project, checkpoint)
    const destination = prepareDestination(context, folder, { outside: project })
    try {
      const how = { ...destination, project, dependencies, callbacks }
      await writeCheckpoint(context, checkpoint, how)
    } catch (error) {
      destination.discard()
      throw error
    }
    return { path: pathText(destination.path), checkpoint: checkpoint.id }
  },
})

/** Beside, so that relative paths to other projects work, and programs find no files of the store above. */
function besideProject({ path }: Project, { id }: FilesCheckpoint): string {
  return `${Buffer.from(path, 'latin1').toString('utf8')}-${id.slice(0, ID_LETTERS)}`
}

type WriteOptions = {
  /** An existing, empty folder. */
  readonly path: BytePath
  /** For its dependencies. */
  readonly project: Project
  readonly dependencies: DependencyMode
  readonly callbacks: Callbacks
}

/** Throws CHECKPOINT_DAMAGED. */
export async function writeCheckpoint(
  context: StoreContext,
  checkpoint: FilesCheckpoint,
  { path, project, dependencies, callbacks }: WriteOptions,
): Promise<void> {
  refuseDamagedFiles(context.ledger, checkpoint)
  const ownersThen = context.ledger.checkpoints.details(checkpoint.id)?.owners
  const request = { tree: checkpoint.snapshot.tree, root: path, ownersThen }
  // A prune must not remove the objects while they are read.
  const { folders, partialModes } = await context.objects.shared(() =>
    context.snapshots.materialize(request, callbacks),
  )
  if (partialModes.length > 0)
    callbacks.onWarning?.(
      `The system did not allow the recorded mode or owner of ${partialModes.length} files and folders.`,
    )
  await bringDependencies(dependencies, { from: project.path, to: path, folders })
  callbacks.signal?.throwIfAborted()
}
