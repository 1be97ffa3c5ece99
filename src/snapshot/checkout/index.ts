export { originHash } from './origin.js'
export { readRegularFile } from './regular-file.js'
