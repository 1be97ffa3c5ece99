export type { Activity } from './watch/project-watch.js'
export { watchOwners } from './watch/watch-folder.js'
export { type Change, totalsOf } from './compare.js'
export { bytesOf, takeCensus } from './collect/census.js'
export { type Collected, collectObjects } from './collect/collect-objects.js'
export { reachableFrom } from './collect/mark.js'
export { readObjectGraph } from './collect/object-graph.js'
export { removeRefs, seeRefs, setRefs } from './collect/refs.js'
export { secretLines } from './ignore/secret-lines.js'
export type { Rewritten } from './without-path.js'
export { isUnsafeFolder, refuseUnsafeFolder } from './guard.js'
export type { CaptureProgress } from './capture/progress.js'
export { excludedFolder } from './capture/excluded-folder.js'
export type { NamedPaths } from './capture-requests.js'
export type { LeftOut } from './restore/then-rules.js'
export type { Captured } from './capture/capture-work.js'
export { type OnProgress, Snapshots } from './snapshots.js'
export type { Applied } from './restore/apply.js'
export type { Aside } from './restore/aside.js'
export type { PartialMode } from './restore/special-bits.js'
export { gitVersionText } from './git/git-program.js'
export { measureSnapshot } from './git/measure-snapshot.js'
export { refuseOldGit } from './repository.js'
export { SnapshotFiles, type StoredFile } from './git/snapshot-files.js'
export type { ObjectReport } from './care/examine.js'
export type { MendRequest } from './care/mend.js'
export type { Lack, Lacks } from './care/lacks.js'
export type { CommitFacts } from './objects/commit.js'
export {
  compareSkipped,
  hasEntry,
  printSkipped,
  type SkippedPrint,
  type SkippedPrints,
} from './skipped-prints.js'
export { readRegularFile } from './checkout/regular-file.js'
export type { SourceCommit } from './import/source-history.js'
export { sourceHead, sourceRefs } from './import/source-refs.js'
export {
  dropLogs,
  flushLogs,
  hasLogsOfBefore,
  lostFromLogs,
  markLogs,
  replayLogs,
  replayLogsOfBefore,
} from './unflushed/settle.js'
