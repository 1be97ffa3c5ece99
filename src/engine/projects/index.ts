export { type SeenFile, trustFiles } from './project-trust.js'
export {
  locateFolder,
  type LocatedFolder,
  projectFolder,
  projectOrigin,
  type ProjectOrigin,
  projectRootOf,
} from './project-places.js'
export type { MoveResult } from './move-project.js'
