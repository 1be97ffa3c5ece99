export type { FilesStep } from './authors.js'
export type { CheckpointQuery } from './checkpoint-briefs.js'
export type { Scope } from './checkpoints.js'
export type { Failure } from './failures.js'
export { Ledger, type NewProject, type ProjectSummary } from './ledger.js'
export type { PruningRow } from './pruning.js'
export type { SessionStep } from './session-steps.js'
export { type RekeyPlan, removeHalfRekeyed, type Target } from './rekey/index.js'
export { type GivenKeys, KEY_BYTES, SealingKey } from './sealing/index.js'
export type { LeaseToken } from './sessions.js'
export { StateMemory, stateRoot } from './states/index.js'
export { SCHEMA_VERSION } from './schema.js'
export type {
  GraphCheckpoint,
  GraphPlace,
  GraphWrite,
  SerialValue,
  StoredGraphCheckpoint,
} from './thread-rows.js'
export type { GraphQuery } from './threads.js'
export type { FilesRow } from './check-rows.js'
export { backupTimeMs } from './backup.js'
export { ledgerFiles } from './ledger-files.js'
export { rescueLedger } from './rescue.js'
export type { RowFault } from './row-faults.js'
