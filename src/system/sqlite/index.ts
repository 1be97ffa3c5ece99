export * from './sqlite.js'
export { isBusy, isConstraintFault, isCorrupt, isStatementFault } from './sqlite-errors.js'
