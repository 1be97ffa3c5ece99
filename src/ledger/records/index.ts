export type { Failure } from './failures.js'
