// The project of a log in a temporary store: an empty folder, so that no prune takes it for one that was deleted.
import { mkdirSync } from 'node:fs'
import { bytePath, fsPath, joinPath, type Project, type RemoteProject } from '../../model/index.js'
import { ensureProject, type StoreContext } from '../operation/context.js'

export function temporaryProject(scratch: StoreContext, project: RemoteProject | null): Project {
  // An id from elsewhere is no file name.
  const name = Buffer.from(project?.id ?? '', 'utf8')
    .toString('hex')
    .slice(0, 100)
  const path = joinPath(bytePath(scratch.home), bytePath(`project-${name}`))
  mkdirSync(fsPath(path), { recursive: true })
  return ensureProject({ ...scratch, path })
}
