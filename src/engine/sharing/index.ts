export { catchUp } from './catch-up.js'
export { Fleet, type OpenedShare } from './fleet.js'
export { fetchFiles } from './fetch-files.js'
export { linkProject, remoteProjectOf } from './project-identity.js'
export { acknowledge,
  closeSession,
  deleteAnySession,
  forkAnySession,
  openAnySession } from './open-shared.js'
export { shipLog } from './ship-log.js'
export { releaseLog, takeLog } from './take-log.js'
export type * from './types.js'
