// The door for the command line: the hooks of coding agents, and their installation.
export type { Answer } from './mappers/event.js'
export {
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from './hooks/handle-hook.js'
export { isBeforeTool } from './mappers/mappers.js'
export { QuietMoments } from './hooks/quiet-moments.js'

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
export const conversations = () => import('./conversation/conversation.js')
export type { AgentCheckpoint, Conversation } from './conversation/conversation.js'
export { continueCommand } from './conversation/continue-command.js'
