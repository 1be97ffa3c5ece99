// Fetches the files of a checkpoint that came from a remote: objects, then commit and ref, then the row (I1, I2).
import type { Arrival } from '../../ledger/index.js'
import {
  type Checkpoint,
  type CheckpointId,
  type ObjectId,
  parseObjectId,
  type Project,
  SavestateError,
  type SessionKey,
} from '../../model/index.js'
import type { Remote } from '../../remote/index.js'
import { failpoint } from '../../system/index.js'
import { type StoreContext, withProjectLock } from '../operation/context.js'
import { withRetries } from './retry.js'

/**
 * Afterwards the checkpoint has its files, like one that was saved here. Does nothing if it has, or if it never had any. The caller
 * does not hold the lock of the project. Throws BAD_INPUT if its session has no folder here, or for packs that are not what they should
 * be, CHECKPOINT_PARTIAL if the host that saved them has not shared them yet, and the errors of a remote.
 */
export async function fetchFiles(
  context: StoreContext,
  remote: Remote,
  checkpoint: CheckpointId,
): Promise<void> {
  const { ledger } = context
  const arrival = ledger.sharing.arrival(checkpoint)
  if (arrival !== undefined) return fetchArrival(context, remote, arrival)
  const files = ledger.sharing.filesOf(checkpoint)
  const found = ledger.checkpoints.get(checkpoint)
  if (files === undefined || files.isLocal || found === undefined || found.session === null) return
  const { pack } = files
  if (pack === null) throw notSharedYet(checkpoint)
  const project = projectOfSession(context, found.session)
  await bring(context, remote, {
    project,
    pack,
    tree: files.tree,
    checkpoint: found,
    attach: (commit) => ledger.sharing.attachFiles(checkpoint, { commit, project: project.id }),
  })
}

type Wanted = {
  readonly project: Project
  readonly pack: string
  readonly tree: string
  readonly checkpoint: Pick<Checkpoint, 'id' | 'kind' | 'reason' | 'createdAtMs'>
  /** Writes the row, once everything else is in place. */
  readonly attach: (commit: ObjectId) => void
}

async function bring(
  context: StoreContext,
  remote: Remote,
  { project, pack, checkpoint: { id, kind, reason, createdAtMs }, ...wanted }: Wanted,
): Promise<void> {
  const { ledger, snapshots } = context
  const tree = parseObjectId(wanted.tree)
  await withProjectLock(context, project, {
    purpose: 'fetch',
    work: async () => {
      // Packs of checkpoints that are here: the lock keeps their objects.
      const known = ledger.sharing.packsHere()
      await withRetries(() =>
        snapshots.importPacks(project, { tree, packs: remote.packs(pack, known) }),
      )
      const { commit } = await snapshots.record({
        tree,
        project: project.id,
        projectPath: project.path,
        checkpoint: id,
        kind,
        reason,
        createdAtMs,
      })
      failpoint('share:recorded')
      wanted.attach(commit)
    },
  })
}

/** A checkpoint of a project that belongs to no session: it becomes one here with its files. */
async function fetchArrival(
  context: StoreContext,
  remote: Remote,
  arrival: Arrival,
): Promise<void> {
  const { ledger } = context
  const { checkpoint: id, kind, reason, createdAtMs, pack, tree } = arrival
  const project = arrival.project === null ? undefined : ledger.project(arrival.project)
  if (pack === null) throw notSharedYet(id)
  // It was removed here meanwhile.
  if (project === undefined) return
  const checkpoint = { id, kind, reason, createdAtMs }
  const attach = (commit: ObjectId) => ledger.sharing.attachArrival(id, commit)
  await bring(context, remote, { project, pack, tree, checkpoint, attach })
}

/** The remote that a session is shared through. Throws REMOTE_UNKNOWN. */
export async function remoteOfSession(
  { ledger, fleet, openRemote }: StoreContext,
  key: SessionKey,
): Promise<Remote> {
  const session = ledger.sessions.byKey(key)
  const shared =
    session === undefined ? undefined : ledger.sharing.get({ kind: 'session', id: session.id })
  const id = shared?.remote
  if (id !== undefined && fleet !== undefined && (await fleet.remote.id()) === id)
    return fleet.remote
  const remote = id === undefined ? undefined : await openRemote?.(id)
  if (remote !== undefined) return remote
  throw new SavestateError(
    'REMOTE_UNKNOWN',
    `The files of the session ${JSON.stringify(session?.id)} are on a remote that this store does not know`,
    { hint: 'Add it: savestate remote add NAME URL.' },
  )
}

function projectOfSession(
  { ledger }: StoreContext,
  { key, id }: { readonly key: SessionKey; readonly id: string },
): Project {
  const projectId = ledger.sessions.byKey(key)?.project ?? null
  const project = projectId === null ? undefined : ledger.project(projectId)
  if (project !== undefined) return project
  throw new SavestateError(
    'BAD_INPUT',
    `The session ${JSON.stringify(id)} has no folder on this machine`,
    { hint: 'Resume it into one: store.resume(id, { into: folder }).' },
  )
}

function notSharedYet(checkpoint: CheckpointId): SavestateError {
  return new SavestateError(
    'CHECKPOINT_PARTIAL',
    `The files of checkpoint ${checkpoint} are not on the remote yet`,
    { hint: 'The machine that saved it sends them with its next push.' },
  )
}
