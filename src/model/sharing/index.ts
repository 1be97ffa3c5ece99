export * from './log.js'
export * from './segment.js'
