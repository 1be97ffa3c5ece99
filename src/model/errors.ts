// One class, one table. A code is permanent: scripts match on it. docs/errors.md is made from this table.
import { hasCode, isError } from '../base/index.js'

// Used in every layer; exported here so that one import gives errors and their codes.
export { hasCode, isError }

/** Every code that a SavestateError may have, with its meaning. Codes never change. */
export const ERROR_CODES = {
  ACCESS_REFUSED:
    'An HTTP request was refused: the token is missing or wrong, or the request comes from elsewhere.',
  AGENT_REWIND_OFF: 'An agent asked for a rewind, and the user has not allowed it.',
  BAD_INPUT: 'An argument or option is malformed or unknown.',
  CHECKPOINT_AMBIGUOUS:
    'More than one checkpoint id starts with the given letters, or a number may mean another checkpoint since a failed rewind.',
  CHECKPOINT_DAMAGED:
    'The store has lost a part of this checkpoint, so it cannot be restored completely.',
  CHECKPOINT_KEPT:
    'The checkpoint cannot be dropped: it is pinned, or a session in progress or a graph thread needs it.',
  CHECKPOINT_PARTIAL:
    'The checkpoint lacks what was asked for: it has no files, no state, or not this file.',
  CHECKPOINT_UNKNOWN: 'No checkpoint of this project has that id, number or name.',
  CONFIG_INVALID: 'A configuration file is malformed or has an unknown setting.',
  CONFIRMATION_NEEDED: 'The command changes files, and there is no terminal to ask on.',
  DAEMON_FAILED: 'The daemon could not be started, or does not answer.',
  DISK_FULL: 'The disk is full.',
  FILE_FAILED: 'The system refused to read or write a file.',
  GIT_FAILED: 'The git program ended with an error.',
  GIT_MISSING: 'The git program is missing or too old.',
  HEAD_MOVED:
    'The session has newer checkpoints than the one that the caller expected to be its newest.',
  INTERRUPTED: 'The work was interrupted before it was finished.',
  KEY_MISSING: 'The value is encrypted, and no key was given.',
  KEY_UNUSABLE:
    'The given key cannot be used: it is not 32 bytes in hex or base64, or others may read its file.',
  KEY_WRONG: 'The value is encrypted with another key than the given one.',
  NEEDS_PERSON: 'An agent has run a command that only a user may run.',
  NODE_TOO_OLD: 'The program was started with a Node that is too old for it.',
  NOTHING_TO_REDO: 'There is no undone rewind to redo.',
  NOTHING_TO_UNDO: 'There is no rewind to undo.',
  PLAN_STALE:
    'The confirmation is out of date: the folder has changed since the plan, or it is for another plan.',
  PROJECT_BUSY: 'Another process is working on this project.',
  PROJECT_MISSING: 'The project folder does not exist or is not a folder.',
  PROJECT_REFUSED:
    'This folder is never captured: a root, a home, the temporary folder, a system folder, or the store.',
  RECOVERY_FAILED: 'An interrupted rewind could not be finished.',
  REWIND_CONFLICT: 'A file that is not captured is in the way of the rewind.',
  REWIND_DISTURBED: 'Files kept changing while the rewind was writing them.',
  SESSION_BUSY: 'Another live process is writing this session.',
  SESSION_CLOSED: 'The session was closed before the write.',
  SESSION_DELETED: 'The session was deleted while it was in use.',
  SESSION_FENCED: 'Another process has taken over the session; this one can no longer write to it.',
  SESSION_UNKNOWN: 'No session has that id.',
  SQLITE_MISSING:
    'This Node has no SQLite that can be used, and the optional package that brings one is not installed.',
  STATE_UNREADABLE: 'A stored value of an agent state cannot be read.',
  STATE_UNSTORABLE:
    'A value of an agent state cannot be stored, because it could not be restored exactly.',
  STORE_BUSY: 'Another process is using the whole store, or too many processes are writing to it.',
  STORE_CLOSED: 'The store was closed before the call, or before a running tool ended.',
  STORE_DAMAGED: 'The store lacks data that it refers to.',
  STORE_FOREIGN: 'The store belongs to another user, or other users can write to it.',
  STORE_NEWER: 'The store was written by a newer version of Savestate.',
  STORE_UNUSABLE: 'The store cannot be opened or written.',
  TOOL_UNVERIFIED:
    'A tool call was running when the agent died, and it is not known yet whether it took effect.',
  TOO_MANY_FILES: 'The project has more files to capture than the limit allows.',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

export type ErrorText = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string | null
}

/** Every error that a call of Savestate throws on purpose. `code` is permanent, `hint` says what to do. */
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

/** For every call to a store that is closed. */
export function storeClosed(): SavestateError {
  return new SavestateError('STORE_CLOSED', 'The store was closed', {
    hint: 'Open it again with `openStore`, or close it after the last call.',
  })
}

/** Errors of the system (EACCES, EROFS, ENOSPC, …) as SavestateErrors; everything else unchanged. */
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
