export type { ProjectContext, StoreContext } from './context.js'
export * from './lazy-operations.js'
export { describeInputError } from './input-errors.js'
export type { Callbacks, PlanDetails, Progress, RestoreSubject } from './callbacks.js'
export { type FailureDetails, recordFailure } from './failures.js'
export {
  type AnyOperation,
  perform,
  unknownOptions,
} from './operation.js'
export {
  daemonLockPath,
  ensureProject,
  tryWithProjectLock,
  findKnownProject,
  objectsLockPath,
  storeLockPath,
} from './context.js'
