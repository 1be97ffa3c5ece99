export { clearLegacy } from './clear-legacy.js'
export { type ImportOptions, type ImportSystem, importFrom } from './import-from.js'
