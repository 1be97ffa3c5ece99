export { diff, type DiffChange, type DiffResult } from './diff.js'
export type { FileResult } from './file.js'
export type { HistoryEntry, HistoryResult } from './history.js'
export * from './list.js'
export { name, type NameResult, pin, unpin } from './pin-and-name.js'
export { type SaveResult, save } from './save.js'
export type { SearchMatch, SearchResult } from './search.js'
export { show, showInSession } from './show.js'
export type {
  ChangeView,
  CheckpointDetails,
  CheckpointView,
  PlanItem,
  PlanView,
  TargetView,
} from './views.js'
export type { AgentDetails, StateSummary, ToolView } from './agent-details.js'
