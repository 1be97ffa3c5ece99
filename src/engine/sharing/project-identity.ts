// A project on a remote is known by an id, because paths differ between machines. The id is the one of the project in the store that
// shared it first; another store notes it when a folder is linked to a session of that project.
import { nameOf, pathText, type Project, type RemoteProject } from '../../model/index.js'
import { originHash } from '../../snapshot/index.js'
import type { StoreContext } from '../operation/context.js'
import type { SessionContext } from '../sessions/session-context.js'
import { changeNote, readNote } from '../store/kv-notes.js'

const noteOf = ({ id }: Project) => `remote-project:${id}`

/** The project of a folder as remotes know it. Reads the config of its repository, for the origin. */
export function remoteProjectOf(context: StoreContext, project: Project): RemoteProject {
  return {
    id: remoteIdOf(context, project),
    name: pathText(nameOf(project.path)),
    origin: originHash(project.path) ?? null,
  }
}

export function remoteIdOf(context: StoreContext, project: Project): string {
  return readNote(context, noteOf(project)) ?? project.id
}

/** From now on this folder is that project of the remote. */
export function linkProject(
  context: StoreContext,
  project: Project,
  { id }: Pick<RemoteProject, 'id'>,
): void {
  changeNote(context, { key: noteOf(project), change: () => (id === project.id ? undefined : id) })
}

/** A session from elsewhere has no folder here until a caller names one. One that has a folder keeps it. */
export function giveProject(
  context: SessionContext,
  project: Project,
  remoteProject: RemoteProject | null,
): void {
  const { ledger, lease } = context
  if (ledger.sessions.byKey(lease.key)?.project !== null) return
  ledger.sharing.setProject(lease.id, project.id)
  if (remoteProject !== null) linkProject(context, project, remoteProject)
}
