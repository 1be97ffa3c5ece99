export { diff, type DiffChange, type DiffResult } from './diff.js'
export type { FileNow, FileResult } from './file.js'
export type { FilePatch, PatchHunk } from './file-patch.js'
export type { FolderListing } from './folder.js'
export type { HistoryEntry, HistoryResult } from './history.js'
export * from './list.js'
export { name, type NameResult, pin, unpin } from './pin-and-name.js'
export { type SaveResult, save } from './save.js'
export { show, showInSession } from './show.js'
export type {
  AgentDetails,
  ChangeView,
  CheckpointDetails,
  CheckpointView,
  PlanItem,
  PlanView,
  StateSummary,
  TargetView,
  ToolView,
} from './views.js'
