// Restores the files of a session that came from another machine into a folder of this one, by an ordinary rewind: what is in the folder
// is captured first, and nothing that was not captured is overwritten (I3, I5).
import {
  type BytePath,
  type Checkpoint,
  hasFiles,
  printablePath,
  type RemoteProject,
} from '../../model/index.js'
import { withFilesHere } from '../checkpoints/files-here.js'
import { withFiles } from '../checkpoints/resolve-ref.js'
import type { Callbacks } from '../operation/callbacks.js'
import { ensureProject, type StoreContext } from '../operation/context.js'
import { withRecoveredProject } from '../restore/recover.js'
import { restore } from '../restore/restore.js'
import { makeRewindRequest } from '../restore/rewind.js'
import type { SessionContext } from '../sessions/session-context.js'
import { linkProject } from './project-identity.js'

export type Restored = {
  readonly context: SessionContext
  /** For the agent: its paths have changed. */
  readonly notice: string | undefined
}

/** The folder becomes the project of the session. Fetches only the files of its newest checkpoint with files. */
export async function restoreInto(
  opened: SessionContext,
  folder: BytePath,
  {
    remoteProject,
    callbacks,
  }: { readonly remoteProject: RemoteProject | null; readonly callbacks: Callbacks },
): Promise<Restored> {
  const { ledger, lease } = opened
  const before = ledger.sessions.byKey(lease.key)?.project ?? null
  const project = ensureProject({ ...opened, path: folder })
  if (remoteProject !== null) linkProject(opened, project, remoteProject)
  ledger.sharing.setProject(lease.id, project.id)
  const context = { ...opened, project }
  const newest = newestWithFiles(context)
  if (newest !== undefined) {
    const target = withFiles(await withFilesHere(context, newest))
    const request = makeRewindRequest(context, project, {
      target,
      callbacks,
      paths: undefined,
      keepMine: false,
      dryRun: false,
    })
    await withRecoveredProject(context, project, {
      purpose: 'resume',
      callbacks,
      work: () => restore(context, project, { request, callbacks, agreed: undefined }),
    })
  }
  const notice =
    before === project.id
      ? undefined
      : `The folder of this session is ${printablePath(folder)} now. Earlier paths may be those of another machine`
  return { context, notice }
}

/** After a rewind of the state alone, the folder still has the files of the newest checkpoint. */
function newestWithFiles({ ledger, lease }: SessionContext): Checkpoint | undefined {
  for (const checkpoint of ledger.checkpoints.list({ session: lease.key }))
    if (hasFiles(checkpoint) || isElsewhere(ledger, checkpoint)) return checkpoint
  return undefined
}

function isElsewhere(ledger: StoreContext['ledger'], { id }: Checkpoint): boolean {
  return ledger.sharing.filesOf(id)?.isLocal === false
}
