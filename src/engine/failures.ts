// Operations that did not do their work are noted in the store, so that a failure that nobody saw is still found.
import { type ErrorCode, pathText, SavestateError, type BytePath } from '../model/index.js'
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
  'SESSION_DELETED',
  'SESSION_UNKNOWN',
  'STATE_UNSTORABLE',
  'TOOL_UNVERIFIED',
]
const MAX_MESSAGE_CHARS = 500

export function noteFailure(
  context: StoreContext & { readonly path?: BytePath },
  operation: string,
  error: unknown,
): void {
  const code = error instanceof SavestateError ? error.code : 'BUG'
  if (code !== 'BUG' && ASKED_WRONGLY.includes(code)) return
  const message = (error instanceof Error ? error.message : String(error)).slice(
    0,
    MAX_MESSAGE_CHARS,
  )
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
