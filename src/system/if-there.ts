// Files and folders that may be gone, or not made yet, which is no fault.
import { readdirSync, readFileSync } from 'node:fs'
import { hasCode } from '../model/index.js'

/** The names in a folder; none if it is not there. */
export function listIfThere(folder: string): string[] {
  return ifThere(() => readdirSync(folder)) ?? []
}

export function readIfThere(path: string): Buffer | undefined {
  return ifThere(() => readFileSync(path))
}

function ifThere<T>(look: () => T): T | undefined {
  try {
    return look()
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
