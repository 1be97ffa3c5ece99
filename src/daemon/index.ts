export { type Address, isOwnSocket, readAddress } from './address.js'
export { answerHook, PATIENCE_SECONDS } from './answer-hook.js'
export { httpHookAddress } from './client/hook-address.js'
export { findDaemon, isRunning } from './client/process.js'
export { askDaemon } from './client/request.js'
export { startDaemonFor, TAKEN } from './client/start.js'
export { startForHooks } from './client/start-for-hooks.js'
export { howToEnd, stopDaemon, unresponsive } from './client/stop.js'
export { environmentFingerprint } from './environment.js'
export type { Line } from './json-lines.js'
export { MAX_INPUT_BYTES, type SaveAnswer, type SaveInput } from './requests.js'
export { saveProject } from './save-project.js'
export { forgetHttpAddress } from './server/http-address.js'

/** The daemon itself, which only `daemon run` loads. */
export function loadServer(): Promise<typeof import('./server/serve.js')> {
  return import('./server/serve.js')
}
