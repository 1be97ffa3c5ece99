export type { CommitFacts } from './commit.js'
