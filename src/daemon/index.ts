export { type Address, isOwnSocket, readAddress } from './address.js'
export { settingOf, talk } from './client.js'
export type { CommandCall, CommandRun, CommandRunner, CommandVoice } from './command-call.js'
export type { Daemon, Served } from './daemon.js'
export { type HookCall, MAX_INPUT_BYTES } from './hook-call.js'
export type { Line } from './lines.js'
export type { WatchedProjects } from './watched-projects.js'

/** The daemon's own half, which no other command loads. */
export function loadDaemon(): Promise<typeof import('./daemon.js')> {
  return import('./daemon.js')
}
