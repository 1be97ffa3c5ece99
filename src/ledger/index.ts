export { type CheckpointQuery, Ledger, type NewProject, type ProjectSummary } from './ledger.js'
export { SCHEMA_VERSION } from './schema.js'
