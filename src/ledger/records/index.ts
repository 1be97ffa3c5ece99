export type { Failure } from './store-records.js'
