export type { FilesStep } from './authors.js'
export type { BriefsQuery, CheckpointQuery } from './checkpoint-briefs.js'
export type { Scope } from './checkpoints.js'
export type { PruningRow } from './pruning.js'
