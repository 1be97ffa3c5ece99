// Errors of the database and its locks. They are here because src/system has no domain words, and these messages are for users.
import { SavestateError } from './errors.js'

export function databaseBusy(cause: unknown): SavestateError {
  return new SavestateError('STORE_BUSY', 'Other processes keep writing to the store', {
    hint: 'Run the command again. If this persists, look for a process that hangs.',
    cause,
  })
}

/** Another process holds the lock exclusively, and the wait timed out. */
export function lockTimeout(): SavestateError {
  return new SavestateError('STORE_BUSY', 'Another process has locked the store', {
    hint: 'Wait until it is done (it may be `savestate repair` or `savestate clear`), then run the command again.',
  })
}

export function databaseFull(folder: string, cause: unknown): SavestateError {
  return new SavestateError('DISK_FULL', `The disk of ${folder} is full`, {
    hint: 'Free some space, then run the command again.',
    cause,
  })
}

export function databaseUnusable(message: string, cause: unknown): SavestateError {
  return new SavestateError('STORE_UNUSABLE', `The ledger cannot be read or written: ${message}`, {
    hint: 'Check the permissions of the store and the health of the disk.',
    cause,
  })
}

export function lockFileNotEmpty(path: string): SavestateError {
  return new SavestateError('STORE_DAMAGED', `The lock file ${path} is not empty`, {
    hint: 'Run `savestate repair`.',
  })
}

export function foreignSchema(path: string, what: string): SavestateError {
  return new SavestateError(
    'STORE_DAMAGED',
    `${path} has ${what}, which Savestate did not create`,
    {
      hint: 'Do not use a store from someone you do not trust. `savestate repair` copies the rows into a new ledger without it.',
    },
  )
}

export function sqliteMissing(system: string, cause?: unknown): SavestateError {
  return new SavestateError(
    'SQLITE_MISSING',
    `Node ${process.versions.node} has no SQLite that Savestate can use, and Savestate contains none that loads on ${system}`,
    { hint: 'Use Node 22.20, 24.7 or newer.', cause },
  )
}
