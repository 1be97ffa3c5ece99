export type { ImportCheckpointsResult } from './import-checkpoints.js'
export {
  type CommitHistory,
  importFault,
  type ImportHistory,
  type ImportPlan,
  type ImportProblem,
  type ImportSource,
  type StateHistory,
  type StateItem,
} from './import-history.js'
