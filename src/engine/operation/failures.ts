// Explains failed operations, and records them in the ledger, so that `status` and `doctor` show failures that no one saw.
import { statfsSync, statSync } from 'node:fs'
import {
  type BytePath,
  bytePath,
  type ErrorCode,
  explainSystemError,
  fsPath,
  isError,
  pathText,
  printablePath,
  SavestateError,
} from '../../model/index.js'
import { refuseOldGit } from '../../snapshot/index.js'
import type { StoreContext } from './context.js'

/** Errors in the request itself. The caller sees them at once, so they are not recorded. */
const CALLER_ERRORS: readonly ErrorCode[] = [
  'BAD_INPUT',
  'CHECKPOINT_AMBIGUOUS',
  'CHECKPOINT_PARTIAL',
  'CHECKPOINT_UNKNOWN',
  'CONFIG_INVALID',
  'CONFIRMATION_NEEDED',
  'HEAD_MOVED',
  'INTERRUPTED',
  'KEY_MISSING',
  'KEY_UNUSABLE',
  'KEY_WRONG',
  'MERGE_CONFLICT',
  'NOTHING_TO_REDO',
  'NOTHING_TO_UNDO',
  'PLAN_STALE',
  'PROJECT_MISSING',
  'PROJECT_REFUSED',
  'REWIND_CONFLICT',
  'SESSION_BUSY',
  'SESSION_CLOSED',
  'SESSION_DELETED',
  'SESSION_UNKNOWN',
  'STATE_UNSTORABLE',
  'STORE_CLOSED',
  'TOOL_UNVERIFIED',
]
const MAX_MESSAGE_CHARS = 500
const HOUR_MS = 3_600_000

export type FailureDetails = {
  readonly operation: string
  /** The path of the project; null for an operation on the whole store. */
  readonly project: string | null
  readonly error: unknown
}

/**
 * Records a failure of work that no caller waits for, with any code. The same failure is recorded once an hour, so that
 * an agent that fails at every call does not push out all other failures.
 */
export function recordFailure(
  { ledger, clock }: StoreContext,
  { operation, project, error }: FailureDetails,
): void {
  const { code, message } = describe(error)
  const [newest] = ledger.failures.list(1)
  const atMs = clock.nowMs()
  const isRecorded =
    newest?.code === code && newest.message === message && atMs - newest.atMs < HOUR_MS
  if (!isRecorded) ledger.failures.add({ atMs, operation, project, code, message })
}

/** Records a failure that the caller sees too, unless the request itself was wrong. */
export function noteFailure(
  context: StoreContext & { readonly path?: BytePath },
  operation: string,
  error: unknown,
): void {
  const { code, message } = describe(error)
  if (CALLER_ERRORS.some((known) => known === code)) return
  const { ledger, clock, path } = context
  const project = path === undefined ? null : pathText(path)
  try {
    ledger.failures.add({ atMs: clock.nowMs(), operation, project, code, message })
  } catch {
    // The caller gets the original error either way, and it says more than this one.
  }
}

function describe(error: unknown): { readonly code: string; readonly message: string } {
  const code = error instanceof SavestateError ? error.code : 'INTERNAL'
  const message = isError(error) ? error.message : String(error)
  return { code, message: message.slice(0, MAX_MESSAGE_CHARS) }
}

const MB = 1_000_000

type Location = { readonly home: string; readonly path?: BytePath | undefined }

/** Adds details that only the engine can find out: which disk is full, and whether git is too old. */
export async function explainFailure(error: unknown, location: Location): Promise<unknown> {
  const explained = explainSystemError(error)
  if (!(explained instanceof SavestateError)) return explained
  if (explained.code === 'DISK_FULL') return addFreeSpace(explained, location)
  if (explained.code === 'GIT_FAILED') return (await findGitProblem(location)) ?? explained
  return explained
}

/** The error does not say which disk is full, so report the free space on both. */
function addFreeSpace(error: SavestateError, { home: text, path }: Location): SavestateError {
  const home = bytePath(text)
  const isOneDisk = path === undefined || isSameDisk(home, path)
  const texts = isOneDisk
    ? [describeFreeSpace('the disk', home)]
    : [
        describeFreeSpace('the disk of the store', home),
        describeFreeSpace('the disk of the project', path),
      ]
  const free = texts.filter((text) => text !== undefined).join(', ')
  const hint = [error.hint ?? [], free === '' ? [] : `Free now: ${free}.`].flat().join('\n')
  return new SavestateError(error.code, error.message, { hint, cause: error })
}

function describeFreeSpace(what: string, path: BytePath): string | undefined {
  const free = tryCall(() => statfsSync(fsPath(path)))
  return free === undefined
    ? undefined
    : `${Math.floor((free.bavail * free.bsize) / MB)} MB on ${what} (${printablePath(path)})`
}

function isSameDisk(one: BytePath, other: BytePath): boolean {
  const [a, b] = [one, other].map((path) => tryCall(() => statSync(fsPath(path)).dev))
  return a !== undefined && a === b
}

/** Opening an existing store does not check git's version, so an old git is noticed only when it fails. */
async function findGitProblem({ home }: Location): Promise<SavestateError | undefined> {
  try {
    await refuseOldGit(home)
    return undefined
  } catch (error) {
    return error instanceof SavestateError && error.code === 'GIT_MISSING' ? error : undefined
  }
}

/** Returns undefined on a system error: the error that is being explained matters more. */
function tryCall<Value>(call: () => Value): Value | undefined {
  try {
    return call()
  } catch (error) {
    if (isError(error) && 'code' in error) return undefined
    throw error
  }
}
