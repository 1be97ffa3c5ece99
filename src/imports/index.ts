export { type ImportOptions, type ImportSystem, importFrom } from './import-from.js'
