// The public API, and what our own front ends and adapters need beyond it. Not in the exports of package.json.
export * from './index.js'
export {
  type CommitHistory,
  type ImportCheckpointsResult,
  importFault,
  type ImportHistory,
  type ImportPlan,
  type ImportProblem,
  type ImportSource,
  inputFault,
  labelOf,
  type LegacyArchive,
  legacyArchives,
  parseTime,
  type StateHistory,
  type StateItem,
} from './engine/index.js'
export {
  type BytePath,
  bytePath,
  bytePathOf,
  fsPath,
  hasCode,
  IN_PROGRESS,
  isWholeText,
  joinPath,
  nameOf,
  parseSessionId,
  parseStatus,
  type Status,
  STATUS_WORDS,
} from './model/index.js'
export { readRegularFile, sourceHead, sourceRefs } from './snapshot/index.js'
