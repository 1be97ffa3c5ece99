export { isTypedCommand } from './failure-answer.js'
export {
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from './handle-hook.js'
export { IdleSessions } from './idle-sessions.js'
