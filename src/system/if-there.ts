// Files and folders that may be absent.
import { readdirSync } from 'node:fs'
import { ifExists } from '../base/index.js'

export { readIfExists as readIfThere } from '../base/index.js'

/** The names in a folder; none if it does not exist. */
export function listIfThere(folder: string): string[] {
  return ifExists(() => readdirSync(folder)) ?? []
}
