export type { CommitMetadata } from './commit.js'
