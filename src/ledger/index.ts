export type { FilesStep } from './checkpoints/authors.js'
export type { CheckpointQuery } from './checkpoints/checkpoint-briefs.js'
export type { Scope } from './checkpoints/checkpoints.js'
export type { Failure } from './records/failures.js'
export { Ledger, type NewProject, type ProjectSummary } from './ledger.js'
export type { PruningRow } from './checkpoints/pruning.js'
export type { SessionStep } from './sessions/session-steps.js'
export { type RekeyPlan, removeHalfRekeyed, type Target } from './rekey/index.js'
export { type GivenKeys, KEY_BYTES, SealingKey } from './encryption/index.js'
export type { LeaseToken } from './sessions/sessions.js'
export { StateMemory, stateRoot } from './states/index.js'
export { SCHEMA_VERSION } from './schema.js'
export type {
  GraphCheckpoint,
  GraphPlace,
  GraphWrite,
  SerialValue,
  StoredGraphCheckpoint,
} from './threads/thread-rows.js'
export type { GraphQuery } from './threads/threads.js'
export type { FilesRow } from './maintenance/check-rows.js'
export { backupTimeMs } from './maintenance/backup.js'
export { ledgerFiles } from './ledger-files.js'
export { rescueLedger } from './maintenance/rescue.js'
export type { RowFault } from './maintenance/row-faults.js'
