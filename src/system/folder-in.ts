// Folders that may be absent.
import { mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { ifExists } from '../base/index.js'
import { hasCode } from '../model/index.js'

export { readIfExists as readIfThere } from '../base/index.js'

/** The names in a folder; none if it does not exist. */
export function listIfExists(folder: string): string[] {
  return ifExists(() => readdirSync(folder)) ?? []
}

/**
 * Creates a folder below `home`. Throws ENOENT if `home` does not exist: if the user removed it, a process that was still
 * writing must not create an incomplete one.
 */
export function makeFolderIn(home: string, ...names: readonly string[]): void {
  let path = home
  for (const name of names) {
    path = join(path, name)
    try {
      mkdirSync(path, { mode: 0o700 })
    } catch (error) {
      if (!hasCode(error, 'EEXIST')) throw error
    }
  }
}
