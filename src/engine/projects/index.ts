export { type SeenFile, trustFiles } from './project-trust.js'
export {
  locateFolder,
  type LocatedFolder,
  projectFolder,
  findProjectOrigin,
  type ProjectOrigin,
  resolveProjectRoot,
} from './locate-project.js'
export type { MoveResult } from './move-project.js'
export { listProjects, type ProjectListItem } from './list-projects.js'
