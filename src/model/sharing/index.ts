export * from './log.js'
export * from './remote-url.js'
export * from './segment.js'
