// The door for the command line: the hooks of coding agents, and their installation.
export { AGENT_NAMES, type AgentName, type Answer } from './agents/event.js'
export {
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from './agents/handle-hook.js'
