export * from './retention.js'
export * from './size-rules.js'
export * from './tiers.js'
export * from './weighted-graph.js'
