export { readRegularFile } from './regular-file.js'
