// Errors of the operating system, and files that may be absent.
import { readFileSync } from 'node:fs'
import { types } from 'node:util'

/** Also true for an error of another realm: some test runners give each file its own globals. */
export function isError(value: unknown): value is Error {
  return types.isNativeError(value) || value instanceof Error
}

/** True for a system error (ENOENT, EACCES, …) with one of these codes. */
export function hasCode(error: unknown, ...codes: readonly string[]): boolean {
  return (
    isError(error) &&
    'code' in error &&
    typeof error.code === 'string' &&
    codes.includes(error.code)
  )
}

/** The result of `read`, or undefined if the path does not exist or the error has one of the codes `alsoAbsent`. */
export function ifExists<T>(read: () => T, ...alsoAbsent: readonly string[]): T | undefined {
  try {
    return read()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', ...alsoAbsent)) return undefined
    throw error
  }
}

/** The bytes of the file, or undefined if it does not exist. */
export function readIfExists(path: string): Buffer | undefined {
  return ifExists(() => readFileSync(path))
}
