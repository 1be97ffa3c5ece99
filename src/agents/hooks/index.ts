export {
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from './handle-hook.js'
export { IdleSessions } from './quiet-moments.js'
