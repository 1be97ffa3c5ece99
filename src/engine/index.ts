export type { ProjectContext, StoreContext } from './context.js'
export { diff, type DiffChange, type DiffResult } from './diff.js'
export type { FileResult } from './file.js'
export type { ForgetResult } from './forget.js'
export type { ClearResult } from './clear-project.js'
export type { DropResult } from './drop.js'
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
} from './later.js'
export { inputFault } from './input-fault.js'
export type { Hooks, PlanFacts, Progress, RestoreSubject } from './hooks.js'
export { clearStore, type LegacyArchive, legacyArchives } from './clear.js'
export { type SeenFile, trustFiles } from './project-trust.js'
export {
  config,
  type ConfigResult,
  limitsOf,
  storeConfig,
  storeSettings,
  type UntrustedFile,
} from './settings.js'
export type { PruneResult } from './prune-result.js'
export type { HistoryEntry, HistoryResult } from './history.js'
export {
  type AutoPruneRecord,
  claimPrune,
  markAutoPruneShown,
  notePruneNotStarted,
  pruneUnattended,
  readAutoPrune,
} from './auto-prune.js'
export { type ListAllResult, type ListResult, list, listAll, shortIds } from './list.js'
export { name, type NameResult, pin, unpin } from './marks.js'
export type { NotRestored } from './not-restored.js'
export { changeNote, type NoteChange, readNote } from './notes.js'
export { type FailureFacts, recordFailure } from './failures.js'
export {
  type Later,
  type OperationOf,
  perform,
  unknownOptions,
} from './operation.js'
export type { RekeyResult } from './rekey.js'
export {
  locateFolder,
  type LocatedFolder,
  projectFolder,
  projectOrigin,
  type ProjectOrigin,
  projectRootOf,
} from './project-places.js'
export { INSTALL_NOTE } from './keep-hooks.js'
export type { MoveResult } from './move-project.js'
export { type RewindResult, rewind } from './rewind.js'
export { findTarget, type FoundTarget } from './rewind-target.js'
export type { MomentInput } from './look.js'
export { type RevertedResult, reverted } from './reverted.js'
export { type SaveResult, save } from './save.js'
export type { SearchMatch, SearchResult } from './search.js'
export { show, showInSession } from './show.js'
export type { StatusResult } from './status.js'
export { inspectHome, openHome, refuseLostLedger } from './store-home.js'
export { redo, undo } from './undo.js'
export type { CareContext, Problem } from './findings.js'
export type { DoctorResult } from './doctor.js'
export type { RepairResult, RepairStep } from './repair.js'
export type { VerifyResult } from './verify.js'
export type {
  ChangeView,
  CheckpointDetails,
  CheckpointView,
  PlanItem,
  PlanView,
  TargetView,
} from './view.js'
export type { AgentDetails, StateSummary, ToolView } from './agent-details.js'
export { type EnsureResult, ensure, EnsuredTurns } from './ensure.js'
export { type ExchangedCheckpoint, type ExchangedItems, labelOf, parseTime } from './exchange.js'
export type { ExportPage } from './export-session.js'
export type { ImportOutlook, ImportResult } from './import-exported.js'
export { openSession } from './open-session.js'
export { type Resumed, resumeSession } from './resume.js'
export type { SessionPruneResult } from './prune-session.js'
export type { SessionContext } from './session-context.js'
export {
  between,
  head,
  latest,
  listSession,
  type SessionHead,
  type SessionSummary,
  since,
  stateAt,
  summary,
} from './session-queries.js'
export { type SessionRewindResult, rewindSession } from './session-rewind.js'
export { appendToSession, type SessionSaveResult, saveSession } from './session-save.js'
export { newTurn, setStatus, type StatusInput } from './session-status.js'
export type { SessionView } from './session-view.js'
export { asAtCall, itemsAtCall } from './copy-at-call.js'
export {
  deleteSession,
  findCheckpoint,
  forkSession,
  listSessions,
  type SessionsResult,
} from './sessions.js'
export {
  type Decision,
  decideTool,
  type InFlight,
  inFlight,
  runOnce,
  runTool,
  type ToolRequest,
  type ToolRun,
} from './tool.js'
export {
  daemonLockPath,
  ensureProject,
  ifProjectIsFree,
  knownProject,
  objectsLockPath,
  storeLockPath,
} from './context.js'
export { copyThread, deleteRuns, deleteThread, keepLatest } from './thread-removal.js'
export {
  type ChannelHistory,
  channelHistories,
  type ChannelValues,
  findGraphCheckpoint,
  type GraphContents,
  graphPlaces,
  type NewGraphCheckpoint,
  putGraphCheckpoint,
  putGraphWrites,
  readGraphCheckpoint,
  ThreadMemories,
} from './threads.js'
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
