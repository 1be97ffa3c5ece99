export type { AgentState, Message, ToolCallRecord } from './agent-state.js'
export { autoSave, type AutoSaveOptions } from './auto-save.js'
export { fromJsonForm, type JsonForm, toJsonForm } from './json-form.js'
export {
  type DiffInput,
  type DropInput,
  Project,
  type RewindInput,
} from './project.js'
export { Session } from './session.js'
export type { SaveInput, SessionEvents, SessionRewindInput } from './session-types.js'
export {
  type GraphCheckpoint,
  type GraphPlace,
  type GraphQuery,
  type GraphWrite,
  type SerialValue,
  Threads,
} from './threads.js'
export { openStore, Store } from './store.js'
export type { ResumedSession, SessionOptions, SessionsInput } from './store-types.js'
export * from './maintenance/index.js'
export * from './opening/index.js'
