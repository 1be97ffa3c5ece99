export * from './sqlite.js'
export { isBusy, isCorrupt, isStatementFault } from './sqlite-errors.js'
