// Fetches the files of a checkpoint that came from a remote.
import type { CheckpointId } from '../../model/index.js'
import type { Remote } from '../../remote/index.js'
import type { StoreContext } from '../operation/context.js'

/**
 * Afterwards the checkpoint has its files, like one that was saved here. Does nothing if it has, or if it never had any. The project
 * of its session must be known (`linkProject`). Throws CHECKPOINT_DAMAGED if the remote does not have what it should.
 */
export async function fetchFiles(
  _context: StoreContext,
  _remote: Remote,
  _checkpoint: CheckpointId,
): Promise<void> {
  throw new Error('not written yet')
}
