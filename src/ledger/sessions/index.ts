export type { SessionStep } from './session-steps.js'
export type { LeaseToken } from './sessions.js'
