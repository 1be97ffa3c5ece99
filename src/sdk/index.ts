export type { AgentState, Message, ToolCallRecord } from './agent-state.js'
export { autoSave, type AutoSaveOptions } from './auto-save.js'
export { fromJsonForm, type JsonForm, toJsonForm } from './json-form.js'
export { freeForkId, isKnownSession } from './known-sessions.js'
export type { CallOptions, RestoreOptions } from './call-options.js'
export { Project } from './project.js'
export type * from './project-types.js'
export type * from './remote-types.js'
export type { Remotes } from './remotes.js'
export { Session } from './session.js'
export type * from './session-types.js'
export {
  type GraphCheckpoint,
  type GraphPlace,
  type GraphQuery,
  type GraphWrite,
  type SerialValue,
  Threads,
} from './threads.js'
export { openStore, Store } from './store.js'
export type * from './store-types.js'
export * from './maintenance/index.js'
export * from './opening/index.js'
