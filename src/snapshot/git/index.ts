export { gitVersionText } from './git-program.js'
export { measureSnapshot } from './measure-snapshot.js'
export { SnapshotFiles, type StoredFile } from './snapshot-files.js'
