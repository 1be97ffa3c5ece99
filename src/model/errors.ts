// One class, one table. A code is permanent: scripts match on it. docs/errors.md is made from this table.
import { types } from 'node:util'

export const ERROR_CODES = {
  ACCESS_REFUSED: 'Who asks over HTTP is not allowed to: no token, a wrong one, or from elsewhere.',
  AGENT_REWIND_OFF: 'An agent asked for a rewind, and the person has not allowed it to.',
  BAD_INPUT: 'An argument or option is not of the form it must have, or there is no such option.',
  CHECKPOINT_AMBIGUOUS:
    'The start of an id fits more than one checkpoint, or a number may mean another one since a failed rewind.',
  CHECKPOINT_DAMAGED:
    'The store has lost something of this checkpoint, so it cannot be brought back whole.',
  CHECKPOINT_PARTIAL:
    'The checkpoint does not hold what was asked of it: it has no files, or no state.',
  CHECKPOINT_UNKNOWN: 'No checkpoint of this project has that id, number or name.',
  CONFIG_INVALID: 'A configuration file has something in it that cannot be used.',
  CONFIRMATION_NEEDED: 'The command changes files and nobody is there to say yes.',
  DAEMON_FAILED: 'The daemon could not be started, or does not answer.',
  DAEMON_LOST: 'The connection to the daemon broke while it was at work on a command.',
  DISK_FULL: 'The disk has no room for what had to be written.',
  FILE_FAILED: 'The system refused to read or write a file.',
  GIT_FAILED: 'The git program ended with an error.',
  GIT_MISSING: 'The git program is not installed or too old.',
  HEAD_MOVED:
    'The session has gone on since the checkpoint that the caller expected to be its head.',
  INTERRUPTED: 'The work was stopped before it was done.',
  KEY_MISSING: 'It is encrypted, and no key was given.',
  KEY_UNUSABLE:
    'What was given as a key is not one: not 32 bytes as hex or base64, or in a file that others may read.',
  KEY_WRONG: 'It is encrypted with another key than the one that was given.',
  NEEDS_PERSON: 'An agent has run a command that only a person may ask for.',
  NODE_TOO_OLD: 'The program was started with a Node that is too old for it.',
  NOTHING_TO_REDO: 'There is no undone rewind.',
  NOTHING_TO_UNDO: 'There is no rewind that is not yet undone.',
  PLAN_STALE:
    'The confirmation does not fit: the folder has changed since the plan, or it is for another plan.',
  PROJECT_BUSY: 'Another process is working on this project.',
  PROJECT_MISSING: 'The project folder is not there or is not a folder.',
  PROJECT_REFUSED:
    'This folder is never captured: a root, a home, the temporary folder, a system folder, or the store.',
  RECOVERY_FAILED: 'An interrupted rewind could not be finished.',
  REKEY_UNFINISHED:
    'The store has another key by now, but what it was before may still be found in its files.',
  REWIND_CONFLICT: 'Something that is not captured stands where the rewind would write.',
  REWIND_DISTURBED: 'Files kept changing while the rewind was writing them.',
  SESSION_BUSY: 'Another live process is writing this session.',
  SESSION_CLOSED: 'The session had been closed before something was to be written to it.',
  SESSION_DELETED: 'The session was deleted while it was in use.',
  SESSION_FENCED: 'Another process has taken the session over; this one can no longer write to it.',
  SESSION_UNKNOWN: 'No session has that id.',
  STATE_UNREADABLE: 'A stored value of the state of an agent cannot be read back.',
  STATE_UNSTORABLE:
    'A value in the state of an agent could not be brought back exactly, so it is not stored.',
  STORE_BUSY:
    'Another process is at work on the whole store, or so many write to it that the turn did not come.',
  STORE_CLOSED:
    'The store had been closed before the call, or before the end of a tool that was running.',
  STORE_DAMAGED: 'The store lacks something that it says it holds.',
  STORE_NEWER: 'The store was written by a newer version of Savestate.',
  STORE_UNUSABLE: 'The store cannot be opened or written.',
  TOOL_UNVERIFIED:
    'A tool call was under way when the agent died, and nobody has said yet whether it took effect.',
  TOO_MANY_FILES: 'The project has more files to capture than the limit allows.',
} as const

export type ErrorCode = keyof typeof ERROR_CODES

export type ErrorText = {
  readonly code: ErrorCode
  readonly message: string
  readonly hint: string | null
}

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

/** Also one of another realm: where a test runner gives each file globals of its own, those of Node itself are none of its Errors. */
export function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error
}

/** True for a system error (ENOENT, EACCES, …) of one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    isError(error) &&
    'code' in error &&
    typeof error.code === 'string' &&
    codes.includes(error.code)
  )
}

/** The system's refusals (EACCES, EROFS, ENOSPC, …) as errors of ours; everything else as it is. */
export function explainSystemError(error: unknown): unknown {
  if (!isError(error) || error instanceof SavestateError) return error
  if (!('code' in error) || typeof error.code !== 'string' || !('syscall' in error)) return error
  const isFull = error.code === 'ENOSPC' || error.code === 'EDQUOT'
  const hint = `${remedyFor(error)}, then run the command again.`
  return isFull
    ? new SavestateError('DISK_FULL', `The disk is full: ${error.message}`, { hint, cause: error })
    : new SavestateError('FILE_FAILED', error.message, { hint, cause: error })
}

/** What the user can do about a refusal of the system. */
export function remedyFor(error: unknown): string {
  const code = isError(error) && 'code' in error ? error.code : undefined
  return REMEDIES.get(String(code)) ?? 'Check the permissions and the disk'
}

const REMEDIES: ReadonlyMap<string, string> = new Map([
  ['ENOSPC', 'Free some space'],
  ['EDQUOT', 'Free some space'],
  ['DISK_FULL', 'Free some space'],
  ['EBUSY', 'Something is mounted there, or in use. Unmount it'],
  ['EMFILE', 'Let more files be open at once (ulimit -n)'],
])
