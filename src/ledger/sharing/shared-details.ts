// The details of a checkpoint that are shared: which paths it lacks, and which repositories it has. The rest concerns one host: its ignore
// rules, the owners of its files, its rewinds. A checkpoint from elsewhere has no more than an imported one.
import { isRecord, tryParseJson } from '../../base/index.js'
import {
  type BytePath,
  type RepositoryNote,
  segmentFault,
  SKIP_REASONS,
  type Skipped,
  type SkipReason,
  type SnapshotDetails,
  staysBelowRoot,
} from '../../model/index.js'

/** `json` is a row of `details`. */
export function sharedDetails(json: string): string {
  const { skippedPaths, repositories } = JSON.parse(json) as SnapshotDetails
  return JSON.stringify({ skippedPaths, repositories })
}

/** Throws BAD_INPUT for details that `sharedDetails` does not write. */
export function parseSharedDetails(json: string): SnapshotDetails {
  const value = tryParseJson(json)
  if (!isRecord(value)) throw segmentFault('the details of a checkpoint have another form')
  const { skippedPaths, repositories } = value
  if (!isListOf(skippedPaths, isSkipped) || !isListOf(repositories, isRepository))
    throw segmentFault('the details of a checkpoint have another form')
  return { skippedPaths, repositories }
}

function isListOf<T>(value: unknown, is: (item: unknown) => item is T): value is T[] {
  return Array.isArray(value) && value.every(is)
}

function isSkipped(value: unknown): value is Skipped {
  if (!isRecord(value) || Object.keys(value).length !== 3) return false
  const { path, reason, sizeBytes } = value
  return isPath(path) && isReason(reason) && (sizeBytes === null || Number.isSafeInteger(sizeBytes))
}

function isRepository(value: unknown): value is RepositoryNote {
  if (!isRecord(value) || Object.keys(value).length !== 3) return false
  const { path, commit, branch } = value
  return isPath(path) && isTextOrNull(commit) && isTextOrNull(branch)
}

/** One character per byte. */
function isPath(value: unknown): value is BytePath {
  return (
    typeof value === 'string' &&
    staysBelowRoot(value as BytePath) &&
    Buffer.from(value, 'latin1').toString('latin1') === value
  )
}

function isReason(value: unknown): value is SkipReason {
  return typeof value === 'string' && Object.hasOwn(SKIP_REASONS, value)
}

function isTextOrNull(value: unknown): boolean {
  return value === null || typeof value === 'string'
}
