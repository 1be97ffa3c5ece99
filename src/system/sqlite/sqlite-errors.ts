// Translates SQLite's result codes into errors.
import { accessSync, constants, statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import {
  databaseBusy,
  databaseFull,
  databaseUnusable,
  hasCode,
  isError,
  SavestateError,
} from '../../model/index.js'

const ERROR = 1
const BUSY = 5
const READ_ONLY = 8
const IO_ERROR = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const CONSTRAINT = 19
const NOT_A_DATABASE = 26

// SQLite grows the shared-memory file by this much, and reports only that it failed.
const SHARED_BYTES = 32 << 10

/** Runs the work; translates errors of the database at this path. */
export function withDatabaseErrors<T>(path: string, work: () => T): T {
  try {
    return work()
  } catch (error) {
    const code = errorCodeOf(error)
    if (code === BUSY) throw databaseBusy(error)
    const isFailed = code === IO_ERROR || code === CANNOT_OPEN
    if (code === FULL || (isFailed && isDiskFull(path))) throw databaseFull(dirname(path), error)
    if (isFailed || code === READ_ONLY)
      throw databaseUnusable(isError(error) ? error.message : '', error)
    throw error
  }
}

function isDiskFull(path: string): boolean {
  try {
    const folder = dirname(path)
    // A read-only file system may also have no free space, but that is not the cause.
    accessSync(folder, constants.W_OK)
    const { bavail, bsize, files, ffree } = statfsSync(folder)
    return bavail * bsize < SHARED_BYTES || (files > 0 && ffree === 0)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'EPERM', 'EROFS')) return false
    throw error
  }
}

/** Another connection holds the lock: as SQLite reports it, or as `withDatabaseErrors` rethrows it. */
export function isBusy(error: unknown): boolean {
  return errorCodeOf(error instanceof SavestateError ? error.cause : error) === BUSY
}

/** The statement does not match the tables, or is not SQL. */
export function isStatementFault(error: unknown): boolean {
  return errorCodeOf(error) === ERROR
}

/** The row would break a rule of its table. */
export function isConstraintFault(error: unknown): boolean {
  return errorCodeOf(error) === CONSTRAINT
}

export function isCorrupt(error: unknown): boolean {
  const code = errorCodeOf(error)
  return code === CORRUPT || code === NOT_A_DATABASE
}

/** The primary code is the lowest byte of an extended one. */
function errorCodeOf(error: unknown): number | undefined {
  if (!isError(error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined
  return error.errcode & 0xff
}
