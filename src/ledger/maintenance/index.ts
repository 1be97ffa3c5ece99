export type { FilesRow } from './check-rows.js'
export { backupTimeMs } from './backup.js'
export { rescueLedger } from './rescue.js'
export type { RowFault } from './row-faults.js'
