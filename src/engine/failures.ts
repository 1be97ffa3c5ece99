// Operations that did not do their work are noted in the store, so that a failure that nobody saw is still found.
import { type BytePath, type ErrorCode, isError, pathText, SavestateError } from '../model/index.js'
import type { StoreContext } from './context.js'

/** What the caller asked for in a way that cannot be done: told at once, and nothing to look into later. */
const ASKED_WRONGLY: readonly ErrorCode[] = [
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

/**
 * Notes a failure whatever its code: of work that nobody looks at. One that the newest note tells of already is not
 * noted again, so that an agent that fails at every call does not push everything else out.
 */
export function recordFailure(
  { ledger, clock }: StoreContext,
  { operation, project, error }: FailureFacts,
): void {
  const { code, message } = described(error)
  const [newest] = ledger.care.failures(1)
  const atMs = clock.nowMs()
  const isTold = newest?.code === code && newest.message === message && atMs - newest.atMs < TOLD_MS
  if (!isTold) ledger.care.addFailure({ atMs, operation, project, code, message })
}

export type FailureFacts = {
  readonly operation: string
  /** The path of the project, if it is about one. */
  readonly project: string | null
  readonly error: unknown
}

const TOLD_MS = 3_600_000

function described(error: unknown): { readonly code: string; readonly message: string } {
  const code = error instanceof SavestateError ? error.code : 'BUG'
  const message = isError(error) ? error.message : String(error)
  return { code, message: message.slice(0, MAX_MESSAGE_CHARS) }
}

export function noteFailure(
  context: StoreContext & { readonly path?: BytePath },
  operation: string,
  error: unknown,
): void {
  const code = error instanceof SavestateError ? error.code : 'BUG'
  if (code !== 'BUG' && ASKED_WRONGLY.includes(code)) return
  const { message } = described(error)
  const project = context.path === undefined ? null : pathText(context.path)
  try {
    context.ledger.care.addFailure({
      atMs: context.clock.nowMs(),
      operation,
      project,
      code,
      message,
    })
  } catch {
    // Where even this cannot be written, the caller still gets the first error, which says more.
  }
}
