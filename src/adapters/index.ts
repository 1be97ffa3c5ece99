// The door for the command line: the hooks of coding agents, and their installation.
export type { Answer } from './agents/event.js'
export {
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from './agents/handle-hook.js'
export { isBeforeTool } from './agents/mappers.js'
export { QuietMoments } from './agents/quiet-moments.js'

/** The same rules for a command that is run and for one that a hook is told of. */
export const guard = () => import('./guard/index.js')

export { usesHttp } from './install/http-record.js'

/** Loaded when it is asked for: hooks start often, and need none of it. */
export const installer = () => import('./install/install.js')
export type {
  FileChange,
  FoundHooks,
  InstallRequest,
  LauncherState,
  Plan,
  TrustPlan,
} from './install/install.js'

/** The same: only who goes back needs it. */
export const conversations = () => import('./agents/conversation.js')
export type { AgentCheckpoint, Conversation } from './agents/conversation.js'
export { continueCommand } from './agents/continue-command.js'
