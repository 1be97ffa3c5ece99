export type { ProjectContext, StoreContext } from './context.js'
export {
  clearProject,
  doctor,
  drop,
  exportSession,
  file,
  forget,
  history,
  hasStrangers,
  importCheckpoints,
  importSession,
  moveProject,
  planImport,
  prune,
  pruneSession,
  rekey,
  repair,
  search,
  setProjectConfig,
  setStoreConfig,
  status,
  verify,
  verifyCare,
} from './lazy-operations.js'
export { inputFault } from './input-errors.js'
export type { Hooks, PlanFacts, Progress, RestoreSubject } from './callbacks.js'
export { type FailureFacts, recordFailure } from './failure-log.js'
export {
  type Later,
  type OperationOf,
  perform,
  unknownOptions,
} from './operation.js'
export {
  daemonLockPath,
  ensureProject,
  ifProjectIsFree,
  knownProject,
  objectsLockPath,
  storeLockPath,
} from './context.js'
