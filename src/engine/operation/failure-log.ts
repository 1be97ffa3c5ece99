// Records failed operations in the ledger, so that `status` and `doctor` show failures that no one saw.
import {
  type BytePath,
  type ErrorCode,
  isError,
  pathText,
  SavestateError,
} from '../../model/index.js'
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
  'NOTHING_TO_REDO',
  'NOTHING_TO_UNDO',
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
