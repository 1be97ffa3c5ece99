// One error class and one table of codes. Codes are permanent: scripts match on them. docs/reference/errors.md is generated from the table.
import { hasCode, isError } from '../base/index.js'

// Re-exported so that one import provides errors and their codes.
export { hasCode, isError }

/** Every code of a SavestateError, with its meaning. Codes never change. */
export const ERROR_CODES = {
  ACCESS_REFUSED:
    'The daemon or the server of the page rejected an HTTP request: the token is missing or wrong, the origin is foreign, or the page is read-only.',
  AGENT_REWIND_OFF: 'An agent asked for a rewind, but the user has not allowed agents to rewind.',
  BAD_INPUT: 'An argument or option is malformed or unknown.',
  BISECT_ENDS:
    'The check of a bisect does not fail at the bad end of the range, or does not succeed at the good one.',
  CHECKPOINT_AMBIGUOUS:
    'The reference matches several checkpoint ids, or its number may have shifted because of a failed rewind.',
  CHECKPOINT_DAMAGED:
    'Part of this checkpoint is missing from the store, so it cannot be restored completely.',
  CHECKPOINT_KEPT:
    'The checkpoint cannot be dropped: it is pinned, or a session in progress or a graph thread needs it.',
  CHECKPOINT_PARTIAL:
    'The checkpoint does not contain what was requested: it has no files, no state, or not this file.',
  CHECKPOINT_UNKNOWN: 'No checkpoint of this project has that id, number or name.',
  CONFIG_INVALID: 'A configuration file is malformed or contains an unknown setting.',
  CONFIRMATION_NEEDED:
    'The command changes files, and there is no terminal to ask for confirmation.',
  DAEMON_FAILED: 'The daemon could not be started, or does not answer.',
  DISK_FULL: 'The disk is full.',
  FILE_FAILED: 'The operating system could not read or write a file.',
  GIT_FAILED: 'The git program ended with an error.',
  GIT_MISSING: 'The git program is missing or too old.',
  HEAD_MOVED: 'The session has newer checkpoints than the caller expected.',
  INTERRUPTED: 'The operation was interrupted before it finished.',
  KEY_MISSING: 'The value is encrypted, and no key was given.',
  KEY_UNUSABLE:
    'The given key cannot be used: it is not 32 bytes in hex or base64, or others may read its file.',
  KEY_WRONG: 'The value is encrypted with a different key.',
  MERGE_CONFLICT:
    'The changes of a step cannot be taken back without a choice, because the same places were changed since.',
  NEEDS_PERSON: 'An agent ran a command that only a user may run.',
  NODE_TOO_OLD: 'The program was started with a Node version that is too old.',
  NOT_SHARED: 'The change was saved on this machine, and the remote has not confirmed it.',
  NOTHING_TO_REDO: 'There is no undone rewind to redo.',
  NOTHING_TO_UNDO: 'There is no rewind to undo.',
  PLAN_STALE:
    'The confirmation is out of date: the folder has changed since the plan was made, or it belongs to another plan.',
  PROJECT_BUSY: 'Another process is working on this project.',
  PROJECT_MISSING: 'The project folder does not exist or is not a folder.',
  PROJECT_REFUSED:
    'This folder is never captured: a root, a home, the temporary folder, a system folder, or the store.',
  RECOVERY_FAILED: 'An interrupted rewind could not be finished.',
  REMOTE_REFUSED:
    'The remote rejected the connection or the request: a wrong password, a missing right, or no Savestate tables.',
  REMOTE_UNKNOWN: 'No remote of this store has that name, or none is set.',
  REMOTE_UNREACHABLE: 'The remote does not answer.',
  REMOTE_WENT_BACK:
    'The remote has less than it confirmed before: it was restored from an older copy.',
  REWIND_CONFLICT: 'A file that no checkpoint contains is in the way of the rewind.',
  REWIND_DISTURBED: 'Files kept changing while the rewind was writing them.',
  SESSION_BUSY: 'Another live process is writing this session.',
  SESSION_CLOSED: 'The session was closed before the write.',
  SESSION_DELETED: 'The session was deleted while it was in use.',
  SESSION_FENCED: 'Another process has taken over the session; this one can no longer write to it.',
  SESSION_UNKNOWN: 'No session has that id.',
  SQLITE_MISSING:
    'This Node version has no usable SQLite, and the package contains none for this system.',
  STATE_UNREADABLE: 'A stored value of an agent state cannot be decoded.',
  STATE_UNSTORABLE:
    'A value of an agent state cannot be stored, because it could not be restored exactly.',
  STORE_BUSY: 'Another process has locked the store, or too many processes are writing to it.',
  STORE_CLOSED: 'The store was closed before the call, or before a running tool finished.',
  STORE_DAMAGED: 'Data in the store is missing or damaged.',
  STORE_FOREIGN: 'The store belongs to another user, or other users can write to it.',
  STORE_NEWER: 'The store was written by a newer version of Savestate.',
  STORE_UNUSABLE: 'The store cannot be opened or written.',
  TOOL_UNVERIFIED:
    'A tool call was running when the agent died. Whether it took effect is not known yet.',
  TOO_MANY_FILES: 'The project has more files to capture than the limit allows.',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

export type ErrorText = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string | null
}

/** Every error that Savestate throws on purpose. `code` is permanent, `hint` says what to do. */
export class SavestateError extends Error {
  override readonly name = 'SavestateError'
  readonly code: ErrorCode
  readonly hint: string | null

  constructor(code: ErrorCode, message: string, options: { hint?: string; cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.code = code
    this.hint = options.hint ?? null
  }

  toJSON(): ErrorText {
    return { code: this.code, message: this.message, hint: this.hint }
  }
}

/** For every call on a closed store. */
export function storeClosed(): SavestateError {
  return new SavestateError('STORE_CLOSED', 'The store was closed', {
    hint: 'Open it again with `openStore`, or close it after the last call.',
  })
}

/** Turns system errors (EACCES, EROFS, ENOSPC, …) into SavestateErrors; returns every other value unchanged. */
export function explainSystemError(error: unknown): unknown {
  if (!isError(error) || error instanceof SavestateError) return error
  if (!('code' in error) || typeof error.code !== 'string' || !('syscall' in error)) return error
  const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT'
  const hint = `${remedyFor(error)}, then run the command again.`
  return isFull
    ? new SavestateError('DISK_FULL', `The disk is full: ${error.message}`, { hint, cause: error })
    : new SavestateError('FILE_FAILED', error.message, { hint, cause: error })
}

/** Advice for an error of the operating system. */
export function remedyFor(error: unknown): string {
  const code = isError(error) && 'code' in error ? error.code : undefined
  return REMEDIES.get(String(code)) ?? 'Check the permissions and the disk'
}

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'Free some space'],
  ['EDQUOT', 'Free some space'],
  ['DISK_FULL', 'Free some space'],
  ['EBUSY', 'It is in use, or a mount point. Unmount it'],
  ['EMFILE', 'Raise the limit of open files (ulimit -n)'],
])

/** For conditions that only a bug in this program can break. All other failures throw a SavestateError. */
export function invariant(claim: unknown, text: string): asserts claim {
  if (!claim) throw new Error(`Bug in savestate: ${text}`)
}
