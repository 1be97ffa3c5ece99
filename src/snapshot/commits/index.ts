export { type ChainState, type ChainTree, CommitChain } from './commit-chain.js'
export { mailCommits } from './mail.js'
export { bundleNotes, UserHistory } from './user-history.js'
export type { UserCommit } from './user-repository.js'
