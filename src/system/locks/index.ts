export * from './lock.js'
export * from './process-identity.js'
export * from './shared-lock.js'
