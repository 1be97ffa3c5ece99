// Brings the files of a checkpoint to this store if they are only on a remote. The code of sharing is loaded only then.
import { type Checkpoint, hasFiles } from '../../model/index.js'
import { findKnownProject, type ProjectContext, type StoreContext } from '../operation/context.js'
import { resolve } from './resolve-ref.js'

/**
 * The same checkpoint, with its files if it has any. The caller holds no lock of the project. Throws REMOTE_UNKNOWN if this store does
 * not know the remote that has them, and the errors of a remote.
 */
export async function withFilesHere(
  context: StoreContext,
  checkpoint: Checkpoint,
): Promise<Checkpoint> {
  const { ledger } = context
  if (hasFiles(checkpoint) || checkpoint.session === null) return checkpoint
  if (ledger.sharing.filesOf(checkpoint.id)?.isLocal !== false) return checkpoint
  const { fetchFiles, remoteOfSession } = await import('../sharing/index.js')
  await fetchFiles(context, await remoteOfSession(context, checkpoint.session.key), checkpoint.id)
  return ledger.checkpoints.get(checkpoint.id) ?? checkpoint
}

/** Brings the files of the checkpoints of a project that a caller names. Call it before the objects are locked. */
export async function bringNamedFiles(
  context: ProjectContext,
  refs: readonly (string | undefined)[],
): Promise<void> {
  const project = findKnownProject(context)
  for (const ref of refs)
    if (ref !== undefined) await withFilesHere(context, resolve(context.ledger, project, ref))
}
