export {
  type ExchangedCheckpoint,
  type ExchangedItems,
  labelOf,
  parseTime,
} from './session-json.js'
export type { ExportPage, ImportOutlook, ImportResult } from './session-exchange.js'
export { openSession } from './open-session.js'
export { claimSession, type Resumed, resumeSession } from './resume.js'
export type { SessionContext } from './session-context.js'
export {
  head,
  type SessionHead,
  type SessionSummary,
  stateAt,
  summary,
} from './session-queries.js'
export * from './session-save.js'
export * from './shared-sessions.js'
export { newTurn, setStatus, type StatusInput } from './session-status.js'
export type { SessionView } from './session-view.js'
export { copyAtCall, copyItemsAtCall } from './write-queue.js'
export type { ListLength, StoredSlice } from './stored-lists.js'
export * from './sessions.js'
export * from './tool-calls.js'
