export * from './config.js'
export * from './limits.js'
export * from './secrets.js'
