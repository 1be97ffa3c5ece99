export { gitVersionText } from './git-program.js'
export { measureSnapshot, SnapshotFiles, type StoredFile } from './snapshot-files.js'
