// What goes wrong with a database: as SQLite's codes tell it, and in our own words where the world is at fault.
import { accessSync, constants, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import { hasCode, isError, SavestateError } from '../../model/index.js'

// SQLite's result codes for what the world does to a database.
const ERROR = 1
const BUSY = 5
const READ_ONLY = 8
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const NOT_A_DATABASE = 26

// The file that the processes share to use the log grows by this much, and SQLite says of it only that it failed.
const SHARED_BYTES = 32 << 10

/** For work on the database at this path. */
export function explained<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === BUSY) {
      throw new SavestateError('STORE_BUSY', 'Other processes keep writing to the store', {
        hint: 'Run the command again. If this persists, look for a process that hangs.',
        cause: error,
      })
    }
    const isFailed = code === IO_ERROR || code === CANNOT_OPEN
    if (code === FULL || (isFailed && hasNoRoom(path))) {
      throw new SavestateError('DISK_FULL', `The disk of ${dirname(path)} is full`, {
        hint: 'Free some space.',
        cause: error,
      })
    }
    if (isFailed || code === READ_ONLY) {
      const message = isError(error) ? error.message : ''
      throw new SavestateError(
        'STORE_UNUSABLE',
        `The ledger cannot be read or written: ${message}`,
        {
          hint: 'Check the permissions of the store and the health of the disk.',
          cause: error,
        },
      )
    }
    throw error
  }
}

function hasNoRoom(path: string): boolean {
  try {
    const folder = dirname(path)
    // A disk that cannot be written to has no free room either, and that is not its fault.
    accessSync(folder, constants.W_OK)
    const { bavail, bsize, files, ffree } = statfsSync(folder)
    return bavail * bsize < SHARED_BYTES || (files > 0 && ffree === 0)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS')) return false
    throw error
  }
}

/** Another connection holds the lock: as SQLite says it, or as `explained` does. */
export function isBusy(error: unknown): boolean {
  const told = error instanceof SavestateError ? error.cause : error
  return errorCodeOf(told) === BUSY
}

/** The statement does not fit the tables, or is no SQL. */
export function isStatementFault(error: unknown): boolean {
  return errorCodeOf(error) === ERROR
}

/** The file is not a database, or not a sound one any more. */
export function isCorrupt(error: unknown): boolean {
  const code = errorCodeOf(error)
  return code === CORRUPT || code === NOT_A_DATABASE
}

/** The primary code: extended ones keep it in their lowest byte. */
function errorCodeOf(error: unknown): number | undefined {
  if (!isError(error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}
