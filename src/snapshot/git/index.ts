export { gitVersionText } from './git-program.js'
export {
  type FolderEntry,
  measureSnapshot,
  SnapshotFiles,
  type StoredFile,
} from './snapshot-files.js'
