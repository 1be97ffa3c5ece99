export type { ForgetResult } from './forget.js'
export type { DropResult } from './drop.js'
export type { PruneResult } from './prune-result.js'
export {
  type AutoPruneRecord,
  claimPrune,
  markAutoPruneShown,
  recordPruneNotStarted,
  pruneUnattended,
  readAutoPrune,
} from './auto-prune.js'
export type { SessionPruneResult } from './prune-session.js'
