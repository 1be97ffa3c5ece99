export type { ClearResult } from './clear-project.js'
export { clearLegacy, clearStore, type LegacyArchive, legacyArchives } from './clear.js'
export {
  config,
  type ConfigResult,
  limitsOf,
  storeConfig,
  storeSettings,
  type UntrustedFile,
} from './settings.js'
export { parseKey, readEnvironmentKey, readKeyFile, unusableKey } from './key-file.js'
export { changeNote, type NoteChange, readNote } from './kv-notes.js'
export type { RekeyResult } from './rekey.js'
export type { StatusResult } from './status.js'
export { inspectHome, openHome, refuseMissingLedger } from './store-home.js'
