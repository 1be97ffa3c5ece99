export { type Address, isOwnSocket, readAddress } from './address.js'
export { answerHook, PATIENCE_SECONDS } from './answer-hook.js'
export {
  findDaemon,
  isRunning,
  startDaemonFor,
  stopDaemon,
  TAKEN,
  unresponsive,
} from './client/daemon-process.js'
export { httpHookAddress, startForHooks } from './client/for-hooks.js'
export { askDaemon } from './client/request.js'
export { environmentFingerprint } from './environment.js'
export type { Line } from './json-lines.js'
export { MAX_INPUT_BYTES, type SaveAnswer, type SaveInput, saveProject } from './requests.js'
export { forgetHttpAddress } from './server/http-access.js'
export { BodyTooLarge, readBody } from './server/read-body.js'

/** The daemon itself, which only `daemon run` loads. */
export function loadServer(): Promise<typeof import('./server/serve.js')> {
  return import('./server/serve.js')
}
