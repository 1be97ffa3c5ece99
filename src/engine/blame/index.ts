export type { BlameLine, BlameResult } from './blame.js'
export type { LineOrigin } from './blame-steps.js'
