export type { ProjectContext, StoreContext } from './operation/context.js'
export { diff, type DiffChange, type DiffResult } from './checkpoints/diff.js'
export type { FileResult } from './checkpoints/file.js'
export type { ForgetResult } from './prune/forget.js'
export type { ClearResult } from './store/clear-project.js'
export type { DropResult } from './prune/drop.js'
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
} from './operation/lazy-operations.js'
export { inputFault } from './operation/input-errors.js'
export type { Hooks, PlanFacts, Progress, RestoreSubject } from './operation/callbacks.js'
export { clearStore, type LegacyArchive, legacyArchives } from './store/clear.js'
export { type SeenFile, trustFiles } from './projects/project-trust.js'
export {
  config,
  type ConfigResult,
  limitsOf,
  storeConfig,
  storeSettings,
  type UntrustedFile,
} from './store/settings.js'
export type { PruneResult } from './prune/prune-result.js'
export type { HistoryEntry, HistoryResult } from './checkpoints/history.js'
export {
  type AutoPruneRecord,
  claimPrune,
  markAutoPruneShown,
  notePruneNotStarted,
  pruneUnattended,
  readAutoPrune,
} from './prune/auto-prune.js'
export { type ListAllResult, type ListResult, list, listAll, shortIds } from './checkpoints/list.js'
export { name, type NameResult, pin, unpin } from './checkpoints/pin-and-name.js'
export type { NotRestored } from './restore/not-restored.js'
export { changeNote, type NoteChange, readNote } from './store/kv-notes.js'
export { type FailureFacts, recordFailure } from './operation/failure-log.js'
export {
  type Later,
  type OperationOf,
  perform,
  unknownOptions,
} from './operation/operation.js'
export type { RekeyResult } from './store/rekey.js'
export {
  locateFolder,
  type LocatedFolder,
  projectFolder,
  projectOrigin,
  type ProjectOrigin,
  projectRootOf,
} from './projects/project-places.js'
export { INSTALL_NOTE } from './restore/keep-hooks.js'
export type { MoveResult } from './projects/move-project.js'
export { type RewindResult, rewind } from './restore/rewind.js'
export { findTarget, type FoundTarget } from './restore/rewind-target.js'
export type { MomentInput } from './authorship/note-authors.js'
export { type RevertedResult, reverted } from './authorship/reverted-files.js'
export { type SaveResult, save } from './checkpoints/save.js'
export type { SearchMatch, SearchResult } from './checkpoints/search.js'
export { show, showInSession } from './checkpoints/show.js'
export type { StatusResult } from './store/status.js'
export { inspectHome, openHome, refuseLostLedger } from './store/store-home.js'
export { redo, undo } from './restore/undo.js'
export type { CareContext, Problem } from './verify/findings.js'
export type { DoctorResult } from './verify/doctor.js'
export type { RepairResult, RepairStep } from './verify/repair.js'
export type { VerifyResult } from './verify/verify.js'
export type {
  ChangeView,
  CheckpointDetails,
  CheckpointView,
  PlanItem,
  PlanView,
  TargetView,
} from './checkpoints/views.js'
export type { AgentDetails, StateSummary, ToolView } from './checkpoints/agent-details.js'
export { type EnsureResult, ensure, EnsuredTurns } from './sessions/save-once-per-turn.js'
export {
  type ExchangedCheckpoint,
  type ExchangedItems,
  labelOf,
  parseTime,
} from './sessions/session-json.js'
export type { ExportPage } from './sessions/export-session.js'
export type { ImportOutlook, ImportResult } from './sessions/import-session-json.js'
export { openSession } from './sessions/open-session.js'
export { type Resumed, resumeSession } from './sessions/resume.js'
export type { SessionPruneResult } from './prune/prune-session.js'
export type { SessionContext } from './sessions/session-context.js'
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
} from './sessions/session-queries.js'
export { type SessionRewindResult, rewindSession } from './restore/session-rewind.js'
export { appendToSession, type SessionSaveResult, saveSession } from './sessions/session-save.js'
export { newTurn, setStatus, type StatusInput } from './sessions/session-status.js'
export type { SessionView } from './sessions/session-view.js'
export { asAtCall, itemsAtCall } from './sessions/copy-at-call.js'
export {
  deleteSession,
  findCheckpoint,
  forkSession,
  listSessions,
  type SessionsResult,
} from './sessions/sessions.js'
export {
  type Decision,
  decideTool,
  type InFlight,
  inFlight,
  runOnce,
  runTool,
  type ToolRequest,
  type ToolRun,
} from './sessions/tool-calls.js'
export {
  daemonLockPath,
  ensureProject,
  ifProjectIsFree,
  knownProject,
  objectsLockPath,
  storeLockPath,
} from './operation/context.js'
export { copyThread, deleteRuns, deleteThread, keepLatest } from './threads/thread-removal.js'
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
} from './threads/graph-threads.js'
export type { ImportCheckpointsResult } from './import/import-checkpoints.js'
export {
  type CommitHistory,
  importFault,
  type ImportHistory,
  type ImportPlan,
  type ImportProblem,
  type ImportSource,
  type StateHistory,
  type StateItem,
} from './import/import-history.js'
