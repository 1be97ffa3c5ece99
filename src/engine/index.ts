export {
  type ChannelHistory,
  readChannelHistories,
  type ChannelValues,
  deleteRuns,
  type GraphContents,
  keepLatest,
  type NewGraphCheckpoint,
  putGraphCheckpoint,
  readGraphCheckpoint,
  ThreadMemories,
} from './threads/graph-threads.js'
export * from './authorship/index.js'
export * from './checkpoints/index.js'
export * from './import/index.js'
export * from './operation/index.js'
export * from './projects/index.js'
export * from './prune/index.js'
export * from './restore/index.js'
export * from './sessions/index.js'
export * from './store/index.js'
export * from './verify/index.js'
