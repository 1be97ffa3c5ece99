export { type Batch, Rekey, type RekeyPlan } from './rekey.js'
export type { Target } from './stale.js'
