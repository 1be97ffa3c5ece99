export type { CheckpointQuery, Scope } from './checkpoints.js'
export type { Failure } from './care.js'
export { Ledger, type NewProject, type ProjectSummary } from './ledger.js'
export type { Hold } from './sessions.js'
export { StateMemory } from './states/index.js'
export { SCHEMA_VERSION } from './schema.js'
export type {
  GraphCheckpoint,
  GraphPlace,
  GraphWrite,
  SerialValue,
  StoredGraphCheckpoint,
} from './thread-rows.js'
export type { GraphQuery } from './threads.js'
