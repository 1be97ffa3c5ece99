export {
  answerWithoutStore,
  failHook,
  handleHook,
  type HookRequest,
} from './handle-hook.js'
export { QuietMoments } from './quiet-moments.js'
